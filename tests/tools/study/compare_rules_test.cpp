#include "study/compare_rules.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

TEST(CompareRules, NameEveryChangeAndRemoval) {
  CompareTerms then;
  EXPECT_EQ(ChangedRule(then, then), "");
  CompareTerms now = then;
  now.looks.max = 9;
  EXPECT_THAT(ChangedRule(then, now), testing::AllOf(testing::StartsWith("looks: "), testing::HasSubstr("9")));
  then.tasks = {{"x", {0, 1}}, {"y", {0, 2}}};
  then.direction = "up";
  now = then;
  now.tasks.clear();
  now.direction.reset();
  EXPECT_THAT(ChangedRule(then, now), testing::AllOf(testing::StartsWith("tasks: "), testing::EndsWith(" and not null")));
  EXPECT_THAT(ChangedRule(now, then), testing::StartsWith("tasks: null and not "));
}

TEST(CompareRules, ADirectionMayBeSetLater) {
  CompareTerms then, now;
  now.direction = "up";
  EXPECT_EQ(ChangedRule(then, now), "");
  EXPECT_EQ(ChangedRule(now, then), "direction: \"up\" and not null");
}

TEST(CompareRules, AreReadFromResultsWithoutTheirPlugins) {
  const std::filesystem::path out = std::filesystem::temp_directory_path() / ("compare_rules_" + std::to_string(getpid()));
  EXPECT_FALSE(RulesOfResults(out));
  std::filesystem::create_directories(out);
  WriteFileAtomic(ResultsFolder{out}.config(),
                  "learner: {plugin: gone}\ncompare: {arms: [{name: a}, {name: b}], margin: 5%, looks: {n: 6, max: 3}}\n");
  std::filesystem::create_directories(ResultsFolder{out}.trials());
  EXPECT_FALSE(RulesOfResults(out)) << "no trial has begun";
  std::filesystem::create_directories(ResultsFolder{out}.trials() / "98fcfbaeee68c90f");
  const std::optional<CompareTerms> rules = RulesOfResults(out);
  ASSERT_TRUE(rules);
  CompareTerms wanted;
  wanted.margin = "5%";
  wanted.looks = {6, 3};
  EXPECT_EQ(ChangedRule(*rules, wanted), "");
  WriteFileAtomic(ResultsFolder{out}.config(), "learner: {plugin: gone}\n");
  EXPECT_FALSE(RulesOfResults(out));
  std::filesystem::remove_all(out);
}

}  // namespace
}  // namespace backplane
