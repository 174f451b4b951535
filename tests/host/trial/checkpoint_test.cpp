#include "trial/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "trial/recorder.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr char kTrial[] = "0123456789abcdef";

std::vector<std::byte> Bytes(const std::string& text) {
  const auto* from = reinterpret_cast<const std::byte*>(text.data());
  return {from, from + text.size()};
}

Checkpoint Small() {
  Checkpoint small;
  small.header.trial_id = kTrial;
  small.header.iterations = 3, small.header.env_steps = 96, small.header.policy_steps = 12, small.header.seconds = 0.25;
  small.header.window = {2, {"ep/x"}, {{1.5, 7, {0.5}}, {-2, 9, {NAN}}}};
  small.parts["learner"] = Bytes("abc");
  small.parts["rows"] = {};
  return small;
}

std::string Written(const Checkpoint& checkpoint) {
  std::string file = CheckpointHead(checkpoint);
  for (const auto& [name, bytes] : checkpoint.parts) file += AsText(bytes);
  return file;
}

Checkpoint Parsed(const std::string& file, const std::string& trial = kTrial) {
  std::istringstream in(file);
  return ParseCheckpoint(in, file.size(), trial);
}

// The error of reading the file, or empty.
std::string Refusal(const std::string& file) {
  try {
    Parsed(file);
    return "";
  } catch (const CheckpointError& e) {
    return e.what();
  }
}

TEST(Checkpoint, ReadsBackUnchanged) {
  const Checkpoint small = Small(), back = Parsed(Written(small));
  EXPECT_EQ(back.parts, small.parts);
  EXPECT_EQ(Written(back), Written(small)) << "the header too";
  EXPECT_EQ(back.header.iterations, 3u);
  EXPECT_EQ(back.header.window.episodes[0].infos[0], 0.5);
  EXPECT_TRUE(std::isnan(back.header.window.episodes[1].infos[0])) << "JSON cannot represent it";
  EXPECT_FALSE(back.header.data);
}

TEST(Checkpoint, RecordsStandardChecksums) {
  // FIPS 180-2, appendix B.1, and the digest of no bytes.
  EXPECT_THAT(Written(Small()), HasSubstr("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  EXPECT_THAT(Written(Small()), HasSubstr("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
}

TEST(Checkpoint, EveryFlippedBitIsFound) {
  const std::string whole = Written(Small());
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    ASSERT_NE(Refusal(flipped), "") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Checkpoint, DetectsEveryCutAndExtraByte) {
  const std::string whole = Written(Small());
  for (size_t size = 0; size < whole.size(); ++size) ASSERT_NE(Refusal(whole.substr(0, size)), "") << size << " bytes";
  EXPECT_THAT(Refusal(whole + "x"), HasSubstr("its parts: expected 3 bytes, got 4"));
}

TEST(Checkpoint, RejectsADifferentTrial) {
  EXPECT_THAT([] { Parsed(Written(Small()), "fedcba9876543210"); },
              ThrowsMessage<CheckpointError>(HasSubstr("expected fedcba9876543210, got \"0123456789abcdef\"")));
  Checkpoint other = Small();
  other.parts["learner"] = Bytes("abd");
  // The header of one checkpoint with the parts of a different one.
  EXPECT_THAT(Refusal(CheckpointHead(Small()) + "abd"), HasSubstr("\"learner\" is damaged"));
  EXPECT_EQ(Refusal(CheckpointHead(other) + "abd"), "");
}

// A header with a valid checksum but wrong sizes.
std::string Signed(const nlohmann::json& header, const std::string& parts) {
  const std::string whole = Written(Small());
  uint64_t size = 0;
  std::memcpy(&size, whole.data() + 8, sizeof size);
  nlohmann::json json = nlohmann::json::parse(whole.substr(48, size));
  json.update(header);
  // CheckpointHead writes the digest of the header before it. A part carries the digest for a changed header.
  Checkpoint carrier = Small();
  const std::string text = json.dump();
  carrier.parts = {{"x", Bytes(text)}};
  const std::string head = CheckpointHead(carrier);
  const std::string hex = head.substr(head.find("\"sha256\":\"") + 10, 64);
  std::string file = "BPCKPT2\n";
  size = text.size();
  file.append(reinterpret_cast<const char*>(&size), sizeof size);
  for (size_t i = 0; i < hex.size(); i += 2) file += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return file + text + parts;
}

TEST(Checkpoint, NoSizeIsTrusted) {
  const auto part = [](const char* name, uint64_t bytes) {
    return nlohmann::json{{"name", name}, {"bytes", bytes}, {"sha256", ""}};
  };
  EXPECT_EQ(Refusal(Signed(nlohmann::json::object(), "abc")), "");
  EXPECT_THAT(Refusal(Signed({{"parts", {part("a", 1ull << 62)}}}, "abc")), HasSubstr("expected 4611686018427387904 bytes"));
  EXPECT_THAT(Refusal(Signed({{"parts", {part("a", ~0ull), part("b", 4)}}}, "abc")),
              HasSubstr("the sizes of its parts overflow"));
  EXPECT_THAT(Refusal(Signed({{"parts", {part("a", 1), part("a", 2)}}}, "abc")), HasSubstr("damaged"));
  EXPECT_THAT(Refusal(Signed({{"parts", {part("a", 0), part("a", 3)}}}, "abc")), HasSubstr("damaged"));
  EXPECT_THAT(Refusal(Signed({{"iterations", -1}}, "abc")), HasSubstr("\"iterations\": expected a whole number from 0 on"));
  EXPECT_THAT(Refusal(Signed({{"seconds", -0.5}}, "abc")), HasSubstr("seconds"));
  EXPECT_THAT(Refusal(Signed({{"seconds", nullptr}}, "abc")), HasSubstr("seconds"));
  EXPECT_THAT(Refusal(Signed({{"version", 3}}, "abc")), HasSubstr("expected version 2, got 3"));
  EXPECT_THAT(Refusal(Signed({{"unwritten", {{"metrics", "text"}}}}, "abc")),
              HasSubstr("\"unwritten.metrics\": expected an object"));
  nlohmann::json deep = 1;
  for (int i = 0; i < 200; ++i) deep = nlohmann::json::array({deep});
  EXPECT_THAT(Refusal(Signed({{"unwritten", deep}}, "abc")), HasSubstr("nested too deeply"));
}

TEST(CheckpointContent, RowsMatchTheTrial) {
  Checkpoint checkpoint = Small();
  std::vector<RowState> rows(3);
  rows[1] = {2.5, 4, 1};
  const auto put = [&] {
    const auto* from = reinterpret_cast<const std::byte*>(rows.data());
    checkpoint.parts["rows"] = {from, from + rows.size() * sizeof(RowState)};
  };
  put();
  EXPECT_EQ(RowStatesOf(checkpoint, 3)[1].episode_return, 2.5);
  EXPECT_THAT([&] { RowStatesOf(checkpoint, 4); },
              ThrowsMessage<CheckpointError>(HasSubstr("24 bytes for each of 4 rows, got 72")));
  EXPECT_THROW(RowStatesOf(checkpoint, 1ull << 61), CheckpointError) << "the product overflows";
  rows[2].episode_length = -1;
  put();
  EXPECT_THROW(RowStatesOf(checkpoint, 3), CheckpointError);
}

TEST(CheckpointContent, UnwrittenLineIsTheLastIteration) {
  CheckpointHeader header = Small().header;
  const nlohmann::json line = {{"iteration", 3}, {"step", 96}, {"metrics", {{"a", 1}}}, {"time", {{"sps", 2.5}}}};
  header.unwritten = RecordFromJson<Iteration>(line);
  EXPECT_NO_THROW(CheckUnwritten(header));
  for (const char* key : {"iteration", "step", "time"}) {
    nlohmann::json part = line;
    part.erase(key);
    header.unwritten = RecordFromJson<Iteration>(part);
    EXPECT_THROW(CheckUnwritten(header), CheckpointError) << key;
  }
}

TEST(CheckpointContent, WindowHasTheInfosOfItsEnv) {
  EpisodeWindow window;
  const SavedWindow saved = Small().header.window;
  EXPECT_NO_THROW(window.Load(saved, 1));
  EXPECT_THROW(window.Load(saved, 2), std::runtime_error) << "an env with more infos";
  SavedWindow wrong = saved;
  wrong.episodes[1].infos.clear();
  EXPECT_THROW(window.Load(wrong, 1), std::runtime_error);
  wrong = saved, wrong.total = 1;
  EXPECT_THROW(window.Load(wrong, 1), std::runtime_error);
  wrong = saved, wrong.total = 1000, wrong.episodes.resize(101, saved.episodes[0]);
  EXPECT_THROW(window.Load(wrong, 1), std::runtime_error) << "it holds the last hundred";
}

}  // namespace
}  // namespace backplane
