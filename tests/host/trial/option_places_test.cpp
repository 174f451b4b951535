#include "trial/option_places.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

const std::map<std::string, std::string> kOrigin = {{"env.options.size", "a.yaml:2:5"},
                                                    {"env.options.lr", "a.yaml:3:5"},
                                                    {"learner.options.lr", "a.yaml:4:5"},
                                                    {"learner.plugin", "a.yaml:1:1"}};

std::vector<std::string> Paths(const std::string& sentence, const std::string& section) {
  std::vector<std::string> paths;
  for (const NamedOption& option : OptionsNamed(sentence, kOrigin, section)) paths.push_back(option.path);
  return paths;
}

TEST(OptionPlaces, AreInTheSentencesOrderAndOfTheSectionThatWasRead) {
  EXPECT_EQ(Paths("lr is too large for that size", "learner.options"),
            (std::vector<std::string>{"learner.options.lr", "env.options.size"}));
  EXPECT_EQ(Paths("lr is too large", "env.options"), std::vector<std::string>{"env.options.lr"});
}

TEST(OptionPlaces, ANameIsAWholeWord) {
  EXPECT_TRUE(Paths("already resized, size_max and the plugin too", "env.options").empty());
}

TEST(OptionPlaces, WhatTheSentenceSaysItselfIsNotSaidTwice) {
  const std::string sentence = "lr (a.yaml:4:5) is too large for size";
  EXPECT_EQ(PlacesText(sentence, OptionsNamed(sentence, kOrigin, "learner.options")), " (env.options.size at a.yaml:2:5)");
}

}  // namespace
}  // namespace backplane
