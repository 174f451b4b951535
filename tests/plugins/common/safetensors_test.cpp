// Files written by this code and by the format's own library, and damaged files.
#include "safetensors/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace backplane::safetensors {
namespace {

namespace fs = std::filesystem;

class SafetensorsTest : public ::testing::Test {
 protected:
  SafetensorsTest() : folder_(fs::path(::testing::TempDir()) / ("safetensors_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~SafetensorsTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name = "x.safetensors") const { return folder_ / name; }
  std::string Put(const std::string& bytes) const {
    std::ofstream(Path(), std::ios::binary) << bytes;
    return Path();
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string Length(uint64_t n) { return {reinterpret_cast<const char*>(&n), 8}; }
  static std::string File(const std::string& header, size_t data) {
    return Length(header.size()) + header + std::string(data, '\1');
  }
  // The reader's error for a file of these bytes.
  std::string Refusal(const std::string& bytes) const {
    const std::string path = Put(bytes);
    try {
      const Reader reader(path);
    } catch (const std::runtime_error& e) {
      const std::string text = e.what();
      EXPECT_TRUE(text.starts_with(path + ": ")) << text;
      return text.substr(text.find(": ") + 2);
    }
    return "accepted";
  }

  const fs::path folder_;
};

// safetensors 0.8.0: save({"b.weight": [[1.5, -2], [0.25, 3]], "a": int64 [7], "empty": zeros(0, 3), "half": bfloat16 1},
// metadata={"format": "pt"})
const std::string kTheirs(
    "\x10\x01\0\0\0\0\0\0"
    "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},\"b.weight\":"
    "{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]},\"empty\":{\"dtype\":\"F32\",\"shape\":[0,3],"
    "\"data_offsets\":[24,24]},\"half\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]}}     "
    "\7\0\0\0\0\0\0\0\0\0\xc0\x3f\0\0\0\xc0\0\0\x80\x3e\0\0\x40\x40\x80\x3f",
    306);

TEST_F(SafetensorsTest, ReadsAFileOfTheFormatsOwnLibrary) {
  const Reader reader(Put(kTheirs));
  EXPECT_EQ(reader.metadata(), (Metadata{{"format", "pt"}}));
  ASSERT_EQ(reader.tensors().size(), 4u);
  const Tensor& b = reader.tensors().at("b.weight");
  EXPECT_EQ(b.dtype, Dtype::kF32);
  EXPECT_EQ(b.shape, (std::vector<uint64_t>{2, 2}));
  float values[4];
  ASSERT_EQ(b.bytes, sizeof values);
  std::memcpy(values, b.data, sizeof values);
  EXPECT_THAT(values, ::testing::ElementsAre(1.5f, -2, .25f, 3));
  EXPECT_EQ(reader.tensors().at("a").dtype, Dtype::kI64);
  EXPECT_EQ(reader.tensors().at("empty").bytes, 0u);
  EXPECT_TRUE(reader.tensors().at("half").shape.empty());
}

TEST_F(SafetensorsTest, WritesAFileThatItReadByteForByte) {
  const Reader reader(Put(kTheirs));
  Write(Path("copy"), reader.metadata(), reader.tensors());
  EXPECT_EQ(Bytes(Path("copy")), kTheirs);
  EXPECT_FALSE(fs::exists(Path("copy.tmp")));
}

TEST_F(SafetensorsTest, KeepsEveryDtypeAndOddNames) {
  const std::string data(64, '\x5a');
  Tensors tensors;
  for (int i = 0; i <= static_cast<int>(Dtype::kU64); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    tensors[std::string("\"\\\n한글 ") + NameOf(dtype)] = {
        dtype, {3, 1}, reinterpret_cast<const std::byte*>(data.data()), 3 * ItemBytes(dtype)};
  }
  Write(Path(), {}, tensors);
  const Reader reader(Path());
  ASSERT_EQ(reader.tensors().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& read = reader.tensors().at(name);
    EXPECT_EQ(read.dtype, tensor.dtype);
    EXPECT_EQ(read.shape, tensor.shape);
    EXPECT_EQ(std::memcmp(read.data, tensor.data, tensor.bytes), 0);
  }
}

TEST_F(SafetensorsTest, AFileWithoutTensorsIsOne) {
  EXPECT_TRUE(Reader(Put(File("{}", 0))).tensors().empty());
  EXPECT_TRUE(Reader(Put(File("{}      ", 0))).tensors().empty());
}

TEST_F(SafetensorsTest, NamesTheFileThatItCannotReadOrWrite) {
  EXPECT_THROW(
      try { Reader reader(Path("none")); } catch (const std::runtime_error& e) {
        EXPECT_THAT(e.what(), ::testing::EndsWith("none: No such file or directory"));
        throw;
      },
      std::runtime_error);
  EXPECT_THROW(Reader reader(folder_.string()), std::runtime_error);
  EXPECT_THROW(Write(Path("no/such/folder"), {}, {}), std::runtime_error);
}

TEST_F(SafetensorsTest, RejectsDamagedFiles) {
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const auto one = [&](const std::string& dtype, const std::string& shape, const std::string& offsets, size_t data) {
    return File("{\"a\":" + entry(dtype, shape, offsets) + "}", data);
  };
  const auto two = [&](const std::string& a, const std::string& b, size_t data) {
    return File("{\"a\":" + entry("\"U8\"", "[4]", a) + ",\"b\":" + entry("\"U8\"", "[4]", b) + "}", data);
  };
  std::string brackets = "{\"a\":";
  brackets.append(100'000, '[');
  const std::pair<std::string, const char*> broken[] = {
      {"", "expected a .safetensors file of 8 bytes or more, got 0 bytes"},
      {"\1\0\0", "expected a .safetensors file of 8 bytes or more"},
      {Length(3) + "{}", "header: expected at most 2 bytes, got 3"},
      {Length(UINT64_MAX) + "{}", "got 18446744073709551615"},
      {Length(UINT64_MAX - 7) + "{}", "header: expected at most 2 bytes"},
      {Length(1'000'000'000) + std::string(64, ' '), "header: expected at most 64 bytes"},
      {File("", 0), "header: expected '{' at the start"},
      {File(" {}", 0), "header: expected '{' at the start"},
      {File("[]", 0), "header: expected '{' at the start"},
      {File("{\"a\":", 0), "header: expected JSON"},
      {File("{}x", 0), "header: expected JSON"},
      {File(std::string("{}\0", 3), 0), "header: expected JSON"},
      {File("{\"\xff\":1}", 0), "header: expected JSON"},
      {File(brackets, 0), "nested more than 4 levels deep"},
      {File("{}", 1), "the tensors cover 0 bytes of data, but the file has 1"},
      {File("{\"a\":1}", 0), "the entry of tensor 'a': expected an object, got 1"},
      {File("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4), "dtype of tensor 'a' is missing"},
      {File("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4), "shape of tensor 'a' is missing"},
      {File("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4), "data_offsets of tensor 'a' is missing"},
      {File("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"b\":1}}", 1), "expected only dtype, shape and"},
      {one("\"F99\"", "[1]", "[0,4]", 4), "dtype of tensor 'a': expected one of BOOL, U8"},
      {one("3", "[1]", "[0,4]", 4), "dtype of tensor 'a': expected one of"},
      {one("\"F32\"", "1", "[0,4]", 4), "shape of tensor 'a': expected a list, got 1"},
      {one("\"F32\"", "[-1]", "[0,4]", 4), "each dimension of tensor 'a': expected a whole number of 0 or more, got -1"},
      {one("\"F32\"", "[1.0]", "[0,4]", 4), "each dimension of tensor 'a'"},
      {one("\"F32\"", "[\"1\"]", "[0,4]", 4), "each dimension of tensor 'a'"},
      {one("\"F32\"", "[4294967296,4294967296]", "[0,4]", 4), "the shape of tensor 'a' is impossibly large"},
      {one("\"F32\"", "[4611686018427387905]", "[0,4]", 4), "impossibly large"},
      {one("\"F32\"", "[2]", "[0,4]", 4), "data_offsets of tensor 'a': expected 8 bytes by shape and dtype, got 4"},
      {one("\"F32\"", "[1]", "[0,4,8]", 4), "data_offsets of tensor 'a': expected two numbers"},
      {one("\"F32\"", "[1]", "[4,0]", 4), "data_offsets of tensor 'a': expected a range within the 4 bytes of data, got [4,0]"},
      {one("\"F32\"", "[1]", "[0,4]", 3), "expected a range within the 3 bytes of data"},
      {one("\"F32\"", "[1]", "[18446744073709551612,18446744073709551616]", 4), "data_offsets of tensor 'a'"},
      {one("\"F32\"", "[1]", "[-4,0]", 4), "data_offsets of tensor 'a'"},
      {one("\"F32\"", "[1]", "[0,4]", 5), "the tensors cover 4 bytes of data, but the file has 5"},
      {one("\"F32\"", "[1]", "[1,5]", 5), "the data has a gap before tensor 'a'"},
      {two("[0,4]", "[2,6]", 6), "tensor 'b' overlaps the one before it"},
      {two("[0,4]", "[0,4]", 4), "overlaps"},
      {two("[0,4]", "[5,9]", 9), "the data has a gap before tensor 'b'"},
      {File("{\"a\":" + entry("\"U8\"", "[4]", "[0,4]") + ",\"a\":" + entry("\"U8\"", "[4]", "[4,8]") + "}", 8),
       "the header has the key 'a' twice"},
      {File("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1),
       "has the key 'dtype' twice"},
      {File("{\"__metadata__\":[]}", 0), "__metadata__: expected an object, got []"},
      {File("{\"__metadata__\":{\"a\":1}}", 0), "__metadata__: expected text for 'a', got 1"},
      {File("{\"__metadata__\":{},\"__metadata__\":{}}", 0), "has the key '__metadata__' twice"},
  };
  for (const auto& [bytes, said] : broken) EXPECT_THAT(Refusal(bytes), ::testing::HasSubstr(said));
}

// No flipped byte of a header may crash the reader or let a tensor point outside the file.
TEST_F(SafetensorsTest, SurvivesEveryChangedByteOfAHeader) {
  for (size_t at = 0; at < 280; ++at) {
    for (const char to : {'\0', '0', '9', '"', '{', ']', '\xff'}) {
      std::string bytes = kTheirs;
      bytes[at] = to;
      const std::string path = Put(bytes);
      try {
        const Reader reader(path);
        uint64_t sum = 0;
        for (const auto& [name, tensor] : reader.tensors()) {
          for (uint64_t i = 0; i < tensor.bytes; ++i) sum += static_cast<uint64_t>(tensor.data[i]);
        }
        EXPECT_EQ(sum, 7u + 0xc0 + 0x3f + 0xc0 + 0x80 + 0x3e + 0x40 + 0x40 + 0x80 + 0x3f);
      } catch (const std::runtime_error&) {
      }
    }
  }
}

TEST_F(SafetensorsTest, APipeIsNoFileAndIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(Reader{Path("pipe")}, std::runtime_error);
}

}  // namespace
}  // namespace backplane::safetensors
