#include "record/flat_json.hpp"

#include <gmock/gmock.h>

#include "record/batch_record.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Lines that batches write.
const std::vector<std::string>& Lines() {
  static const std::vector<std::string> lines = {
      R"({"v":1,"seq":1,"t":1732219200.25,"boot_id":"b-1","kind":"session.start","hostname":"node","pid":7,"pid_start":9,"trials":2})",
      R"({"v":1,"seq":2,"t":1e3,"boot_id":"","kind":"attempt.start","trial_id":"0a","attempt":1,"cores":[0,1],"gpus":[],"resumed":false})",
      R"({"v":1,"seq":3,"t":-0.5,"boot_id":"","kind":"attempt.end","trial_id":"0a","attempt":1,"exit":-1,"outcome":"ok","peak_rss_bytes":)"
      R"(18446744073709551615,"signal":"","state":"COMPLETED","wall_s":null,"why":"x","later":{"a":[{}, [ ], true ]}})",
  };
  return lines;
}

// The library's value, or none if it rejects the text.
std::optional<json> Expected(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? std::nullopt : std::optional(std::move(value));
}

TEST(FlatJson, ReadsLinesOfBatches) {
  FlatJsonReader reader;
  for (const std::string& line : Lines()) {
    ASSERT_TRUE(reader.Read(line)) << line;
    EXPECT_EQ(Expected(line), json(reader.root()));
  }
}

TEST(FlatJson, AgreesWithTheLibrary) {
  FlatJsonReader reader;
  size_t taken = 0, refused = 0;
  const std::string others = "{}[]:,\"\\01-.eEtn x\x7f\x01";
  for (const std::string& line : Lines()) {
    for (size_t at = 0; at < line.size(); ++at) {
      for (const char other : others) {
        std::string text = line;
        text[at] = other;
        if (!reader.Read(text)) {
          ++refused;
          continue;
        }
        ++taken;
        ASSERT_EQ(Expected(text), json(reader.root())) << text;
      }
    }
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(FlatJson, RejectsUnsupportedText) {
  FlatJsonReader reader;
  for (const char* text : {R"({"a":1,"a":2})", R"(["\n"])", "[\"\xc3\xa4\"]", "[1e999]", "[18446744073709551616]", "[01]",
                           "[1.]", "[1,]", "", "[1] 2", "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"})
    EXPECT_FALSE(reader.Read(text)) << text;
}

TEST(FlatJson, GivesTheSameRecordsAndErrors) {
  FlatJsonReader reader;
  for (const std::string& line : Lines()) {
    ASSERT_TRUE(reader.Read(line));
    EXPECT_EQ(ToJson(RecordFromJson<Event>(json::parse(line))), ToJson(RecordFromJson<Event>(reader.root())));
  }
  const std::string wrong = R"({"v":1,"seq":-2,"t":0,"boot_id":"","kind":"sweep.paused","why":""})";
  ASSERT_TRUE(reader.Read(wrong));
  EXPECT_FALSE(RecordOrNothing<Event>(reader.root()));
}

}  // namespace
}  // namespace backplane
