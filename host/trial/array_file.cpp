#include "trial/array_file.hpp"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/files.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMostFileBytes = uint64_t{1} << 32;

[[noreturn]] void RejectArrays(const std::string& why) { throw std::runtime_error(why); }

// Little-endian numbers of a text, checked against its end.
class ZipBytes {
 public:
  explicit ZipBytes(std::string_view bytes) : bytes_(bytes) {}
  uint64_t At(uint64_t at, uint64_t n) const {
    uint64_t value = 0;
    const std::string_view part = Part(at, n);
    for (uint64_t i = 0; i < n; ++i) value |= uint64_t{static_cast<unsigned char>(part[i])} << (8 * i);
    return value;
  }
  std::string_view Part(uint64_t at, uint64_t n) const {
    if (at > bytes_.size() || n > bytes_.size() - at) RejectArrays("expected a whole .npz file, got one that is cut off");
    return bytes_.substr(at, n);
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

// The text behind a key of the header, a Python dictionary in the form that NumPy writes.
std::string_view ValueOf(std::string_view header, std::string_view key, char open, char close) {
  const size_t at = header.find(fmt::format("'{}': ", key));
  const size_t from = at == header.npos ? at : header.find(open, at + key.size() + 4);
  const size_t to = from == header.npos ? from : header.find(close, from + 1);
  if (to == header.npos) RejectArrays(fmt::format("the header of an array: expected '{}', got none", key));
  return header.substr(from + 1, to - from - 1);
}

std::vector<uint64_t> ShapeOf(std::string_view text) {
  std::vector<uint64_t> shape;
  for (const char *at = text.data(), *const end = at + text.size(); at < end;) {
    uint64_t size = 0;
    const auto read = std::from_chars(at, end, size);
    if (read.ec != std::errc() || shape.size() == 8)
      RejectArrays(fmt::format("expected a shape of at most 8 dimensions, got ({})", text));
    shape.push_back(size);
    for (at = read.ptr; at < end && (*at == ',' || *at == ' ');) ++at;
  }
  return shape;
}

template <class T>
void ReadNumbers(std::string_view data, std::vector<double>* out) {
  for (size_t i = 0; i < out->size(); ++i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    (*out)[i] = static_cast<double>(value);
  }
}

struct NumberType {
  const char* name;
  uint64_t bytes;
  void (*read)(std::string_view, std::vector<double>*);
};
constexpr NumberType kNumberTypes[] = {{"<f4", 4, ReadNumbers<float>},   {"<f8", 8, ReadNumbers<double>},
                                       {"<i4", 4, ReadNumbers<int32_t>}, {"<i8", 8, ReadNumbers<int64_t>},
                                       {"|u1", 1, ReadNumbers<uint8_t>}, {"|b1", 1, ReadNumbers<uint8_t>}};

NumpyArray ParseArray(std::string_view bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY", kRowMajor = "'fortran_order': False";
  const ZipBytes all(bytes);
  if (all.Part(0, kMagic.size()) != kMagic) RejectArrays("expected a NumPy array, got other bytes");
  const uint64_t width = all.At(kMagic.size(), 1) == 1 ? 2 : 4, at = kMagic.size() + 2;
  const std::string_view header = all.Part(at + width, all.At(at, width));
  const std::string_view data = bytes.substr(at + width + header.size());
  const std::string_view type = ValueOf(header, "descr", '\'', '\'');
  NumpyArray array;
  array.shape = ShapeOf(ValueOf(header, "shape", '(', ')'));
  uint64_t count = 1;
  for (const uint64_t size : array.shape)
    if (__builtin_mul_overflow(count, size, &count)) RejectArrays("expected a shape that fits into memory, got a larger one");
  if (array.shape.size() > 1 && header.find(kRowMajor) == header.npos)
    RejectArrays("expected an array in C order, got one in Fortran order");
  if (type.starts_with("<U") && count == 1) {
    array.is_text = true;
    for (size_t i = 0; i + 4 <= data.size() && data[i] != '\0'; i += 4) array.text += data[i];
    return array;
  }
  for (const NumberType& one : kNumberTypes) {
    if (type != one.name) continue;
    if (count > data.size() || count * one.bytes != data.size())
      RejectArrays(fmt::format("expected {} numbers, got {} bytes", count, data.size()));
    array.values.resize(count);
    one.read(data, &array.values);
    return array;
  }
  RejectArrays(fmt::format("expected an array of numbers or text, got type '{}'", type));
}

uint64_t FindDirectory(const ZipBytes& zip) {
  constexpr uint64_t kEndBytes = 22, kMostComment = 65535;
  for (uint64_t back = kEndBytes; back <= zip.size() && back <= kEndBytes + kMostComment; ++back)
    if (zip.Part(zip.size() - back, 4) == "PK\x05\x06") return zip.size() - back;
  RejectArrays("expected a whole .npz file, got no directory of a zip file at its end");
}

std::string_view ReadZipEntry(const ZipBytes& zip, uint64_t at, std::string* name) {
  constexpr uint64_t kHeader = 46, kLocalHeader = 30;
  if (zip.Part(at, 4) != std::string_view("PK\x01\x02", 4)) RejectArrays("expected an entry of a zip file, got other bytes");
  *name = zip.Part(at + kHeader, zip.At(at + 28, 2));
  if (zip.At(at + 10, 2) != 0 || (zip.At(at + 8, 2) & 1) != 0)
    RejectArrays(
        fmt::format("{}: expected an array without compression, got a compressed one\n"
                    "hint: backplane import policy FILE --to FILE.npz",
                    *name));
  const uint64_t local = zip.At(at + 42, 4);
  const uint64_t data = local + kLocalHeader + zip.At(local + 26, 2) + zip.At(local + 28, 2);
  const std::string_view bytes = zip.Part(data, zip.At(at + 24, 4));
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  if (crc.checksum() != zip.At(at + 16, 4)) RejectArrays(*name + ": is damaged: its checksum differs");
  return bytes;
}

}  // namespace

std::map<std::string, NumpyArray> ParseArrayFile(const std::string& bytes) {
  const ZipBytes zip(bytes);
  const uint64_t end = FindDirectory(zip), count = zip.At(end + 10, 2);
  uint64_t at = zip.At(end + 16, 4);
  std::map<std::string, NumpyArray> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    std::string name;
    const std::string_view data = ReadZipEntry(zip, at, &name);
    at += 46 + zip.At(at + 28, 2) + zip.At(at + 30, 2) + zip.At(at + 32, 2);
    if (!name.ends_with(".npy")) RejectArrays("expected arrays (.npy), got the entry '" + name + "'");
    name.resize(name.size() - 4);
    try {
      if (!arrays.emplace(name, ParseArray(data)).second) RejectArrays("expected it once, got it twice");
    } catch (const std::runtime_error& e) {
      RejectArrays(name + ": " + e.what());
    }
  }
  return arrays;
}

std::map<std::string, NumpyArray> ReadArrayFile(const std::filesystem::path& file) {
  const FileText read = ReadRegularFile(file, kMostFileBytes);
  if (!read.text) RejectArrays(file.string() + " " + read.why_not);
  try {
    return ParseArrayFile(*read.text);
  } catch (const std::runtime_error& e) {
    RejectArrays(file.string() + ": " + e.what());
  }
}

}  // namespace backplane
