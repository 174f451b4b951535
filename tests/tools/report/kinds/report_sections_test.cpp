// Sections common to both kinds of report, and the files that reports propose.
#include <gtest/gtest.h>

#include "kinds/report_builders.hpp"
#include "kinds/sections.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

using test_support::BlocksOf;
using test_support::Contains;
using test_support::Context;
using test_support::Set;
using test_support::Trial;

std::string FirstCommand(const ResultSet& set) {
  const Document document = ComparisonReport({set}, Context("comparison"));
  return BlocksOf<CommandList>(document, "reproduce").at(0).commands.at(0).second;
}

TEST(ReproduceSection, TheRepeatLeavesTheFirstBatchUnchanged) {
  ResultSet set = Set({Trial(1, 1, 1000)});
  EXPECT_EQ("backplane run outputs/walk/config.yaml --out outputs/walk_again", FirstCommand(set));
  set.config["output"]["report_dir"] = "/data/report";
  set.config["output"]["progress_file"] = "/data/progress.json";
  EXPECT_EQ(
      "backplane run outputs/walk/config.yaml --out outputs/walk_again --set output.report_dir=outputs/walk_again/report "
      "--set output.progress_file=progress.json",
      FirstCommand(set));
}

TEST(ReproduceSection, KeepsAProgressFileWithinTheResults) {
  ResultSet set = Set({Trial(1, 1, 1000)});
  set.config["output"]["progress_file"] = "mine.json";
  EXPECT_EQ("backplane run outputs/walk/config.yaml --out outputs/walk_again", FirstCommand(set));
}

TEST(ConfigurationSection, ShowsTheSweepToo) {
  const Document document = ComparisonReport({Set({Trial(1, 1, 1000)})}, Context("comparison"));
  EXPECT_TRUE(Contains(BlocksOf<CodeBlock>(document, "configuration").at(0).text, "sweep:"));
}

TEST(RecommendedFile, WritesNoFileOfTheBatchItCameFrom) {
  nlohmann::json config = test_support::ConfigWith(1, 1, 0);
  config["output"]["report_dir"] = "/data/report";
  config["output"]["progress_file"] = "/data/progress.json";
  const std::string file = RecommendedFile(config, "_selected", {});
  EXPECT_FALSE(Contains(file, "/data/")) << file;
}

TEST(RecommendedFile, NotesThatItHasNoBudget) {
  nlohmann::json config = test_support::ConfigWith(1, 1, 0);
  config["budget"]["iterations"] = 3;
  const std::string file = RecommendedFile(config, "_selected", {"first", ""});
  EXPECT_FALSE(Contains(file, "\nbudget:")) << file;
  EXPECT_TRUE(file.starts_with("# first\n# The setting without a budget")) << file;
}

TEST(RecommendedFile, ACommandIsStartedWithoutABudget) {
  nlohmann::json config = test_support::ConfigWith(1, 1, 0);
  EXPECT_EQ(StartedWith(RecommendedFile(config, "_selected", {})), " --set budget.iterations=100");
  config["learner"]["command"] = {"python3", "train.py"};
  const std::string file = RecommendedFile(config, "_selected", {});
  EXPECT_TRUE(file.starts_with("# The setting without a budget, because its command ends by itself.\n")) << file;
  EXPECT_EQ(StartedWith(file), "");
}

TEST(RecommendedFile, NamesNoPresetWhichWouldBeWrittenOverItsValues) {
  nlohmann::json config = test_support::ConfigWith(1, 1, 0);
  config["preset"] = "laptop";
  EXPECT_FALSE(Contains(RecommendedFile(config, "_selected", {}), "laptop"));
}

}  // namespace
}  // namespace backplane
