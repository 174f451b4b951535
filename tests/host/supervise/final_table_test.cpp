#include "supervise/final_table.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FinalRow Row(const std::string& name, double success, double crash) {
  TrialResult result;
  result.sps = 18968;
  result.wall_s = 61;
  result.training.episode_return = Spread{52.372, 19, 12};
  return {name, "COMPLETED", "", result, {{"ep/success_rate", success}, {"ep/crash_rate", crash}}};
}

TEST(FinalTable, WhatTheFileAskedForIsThere) {
  EXPECT_EQ(
      "  trial   state      steps/s  return +- s.e.  success_rate  crash_rate  time\n"
      "  greedy  COMPLETED   18,968    52.372 +- 19         0.897       0.103  1:01\n"
      "  later   PLANNED    stopped after iteration 3\n"
      "  failed  FAILED\n",
      FormatFinalTable(
          {Row("greedy", 0.897, 0.103), {"later", "PLANNED", "stopped after iteration 3", {}}, {"failed", "FAILED", "", {}}},
          std::nullopt, true));
}

TEST(FinalTable, OnANarrowScreenItStaysAndTheRestGivesWay) {
  const std::vector<FinalRow> rows = {Row("a_trial_with_a_long_name", 0.897, 0.103)};
  for (const size_t width : {size_t{80}, size_t{60}, size_t{46}}) {
    const std::string text = FormatFinalTable(rows, width, true);
    EXPECT_LE(text.find('\n'), width);
    EXPECT_THAT(text, HasSubstr("success_rate"));
  }
  EXPECT_THAT(FormatFinalTable(rows, 60, true), Not(HasSubstr("return")));
  EXPECT_THAT(FormatFinalTable(rows, 46, true), Not(HasSubstr("crash_rate"))) << "from the right";
}

TEST(FinalTable, TheLastValuesAreThoseOfTheResultElseOfTheLastIteration) {
  const std::filesystem::path dir = std::filesystem::path(::testing::TempDir()) / ("final_table_" + std::to_string(getpid()));
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "result.json")
      << R"({"metrics": {"ep/x": {"mean": 0.5, "n": 2}}, "evaluation": {"metrics": {"ep/x": {"mean": 0.7, "n": 2}}}})";
  std::ofstream(dir / "metrics.jsonl") << R"({"iteration": 1, "metrics": {"train/loss": 3.0}})"
                                       << "\n"
                                       << R"({"iteration": 2, "metrics": {"train/loss": 2.0}})"
                                       << "\n";
  const std::vector<LiveValue> values = LastValues({"ep/x", "eval/x", "train/loss", "nowhere"}, dir);
  std::filesystem::remove_all(dir);
  EXPECT_EQ(0.5, values[0].value);
  EXPECT_EQ(0.7, values[1].value);
  EXPECT_EQ(2.0, values[2].value);
  EXPECT_FALSE(values[3].value.has_value());
}

}  // namespace
}  // namespace backplane
