#include "base/error_words.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace backplane {
namespace {

std::string WordsFor(const std::string& text) {
  try {
    return nlohmann::json::parse(text).at("name").get<std::string>();
  } catch (const std::exception& error) {
    return WordsOf(error);
  }
}

TEST(ErrorWords, OmitNameOfJsonException) {
  for (const char* text : {"", "{", "{}", "[]", R"({"name": 1})"}) {
    EXPECT_THAT(WordsFor(text), testing::Not(testing::HasSubstr("json.exception"))) << text;
    EXPECT_NE("", WordsFor(text)) << text;
  }
}

TEST(ErrorWords, OmitNameWithinAText) {
  EXPECT_EQ("run.json: parse error", WordsOf(std::runtime_error("run.json: [json.exception.parse_error.101] parse error")));
}

TEST(ErrorWords, KeepOtherExceptions) { EXPECT_EQ("[x] y", WordsOf(std::runtime_error("[x] y"))); }

}  // namespace
}  // namespace backplane
