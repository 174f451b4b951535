#include "contract/placeholders.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> NamesIn(const std::string& word) {
  std::string why_not;
  return PlaceholdersIn(word, &why_not).value_or(std::vector<std::string>{"error: " + why_not});
}

std::string Filled(const std::string& word) {
  return FillPlaceholders(word, [](const std::string& name) { return "<" + name + ">"; });
}

TEST(Placeholders, AreNamesInBraces) {
  EXPECT_THAT(NamesIn("--lr={lr},{seed}"), ElementsAre("lr", "seed"));
  EXPECT_THAT(NamesIn("{optim.lr-2}"), ElementsAre("optim.lr-2"));
  EXPECT_THAT(NamesIn("plain"), ElementsAre());
  EXPECT_EQ(Filled("--lr={lr},{seed}"), "--lr=<lr>,<seed>");
}

TEST(Placeholders, ABraceIsDoubled) {
  EXPECT_EQ(Filled(R"({{"lr": {lr}}})"), R"({"lr": <lr>})");
  EXPECT_EQ(Filled("{{lr}}"), "{lr}");
  EXPECT_EQ(Filled("{{{lr}}}"), "{<lr>}");
  EXPECT_THAT(NamesIn("{{lr}}"), ElementsAre());
}

TEST(Placeholders, RejectsASingleBrace) {
  for (const char* word : {"{", "}", "a{b", "{}", "{a b}", "{1}", "{\"a\": 1}"})
    EXPECT_THAT(NamesIn(word).front(), HasSubstr("in '" + std::string(word) + "', got a single '")) << word;
}

TEST(Placeholders, AWordWithoutAnyMayBeAPath) {
  EXPECT_EQ(PlainWord("a{{b"), "a{b");
  EXPECT_EQ(PlainWord("a{b}"), "");
}

}  // namespace
}  // namespace backplane
