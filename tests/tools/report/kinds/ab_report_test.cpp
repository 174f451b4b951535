// The report of a comparison, from trials made by hand.
#include "kinds/ab_report.hpp"

#include <gmock/gmock.h>

#include <map>

#include "kinds/ab_tasks.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::Context;
using test_support::Set;
using test_support::Single;
using test_support::Trial;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TrialData OfArm(const std::string& name, uint64_t seed) {
  TrialData trial = Trial(1, 1, 1000, seed);
  trial.point = name;
  trial.point_id = "point-" + name;
  trial.trial_id = trial.point_id + "-" + std::to_string(seed);
  trial.curves.clear();
  return trial;
}

// A comparison after one look.
ReportContext Looks(uint64_t n, uint64_t most, const std::string& metric) {
  ReportContext context = Context("ab");
  context.compare.has_looks = true;
  context.compare.terms.metric = metric;
  context.compare.terms.looks = {n, most};
  return context;
}

// Two speeds in blocks A B B A.
std::vector<TrialData> Blocks(size_t blocks) {
  std::vector<TrialData> trials;
  for (uint64_t seed = 0; seed < 2 * blocks; ++seed) {
    for (const char* name : {"a", "b"}) {
      trials.push_back(OfArm(name, seed));
      TrialData& trial = trials.back();
      trial.measures["SPS"] = Single((*name == 'a' ? 1000 : 1200) + static_cast<double>(seed * 3 % 5));
    }
  }
  return trials;
}

// By hand: six pairs of scores all won have p^6 = 0.025 at p = 0.5407; one pair has p = 0.025.
TEST(CompleteImprovement, HasTheExactInterval) {
  EXPECT_NEAR(CompleteImprovement(1, 6).low, 0.5407, 1e-4);
  EXPECT_EQ(CompleteImprovement(1, 6).high, 1);
  EXPECT_EQ(CompleteImprovement(0, 6).low, 0);
  EXPECT_NEAR(CompleteImprovement(0, 6).high, 0.4593, 1e-4);
  EXPECT_NEAR(CompleteImprovement(1, 1).low, 0.025, 1e-9);
}

TEST(AbReport, NotesThatNoBlockCanBeDiscarded) {
  std::vector<TrialData> trials = Blocks(5);
  const ReportContext context = Looks(5, 1, "SPS");
  EXPECT_THAT(AbReport({Set(trials)}, context).verdict, Contains(HasSubstr("so no block can be discarded")));
  for (TrialData& trial : trials) trial.measures["time/waiting_for_a_core_pct"] = Single(1);
  EXPECT_THAT(AbReport({Set(trials)}, context).verdict,
              Contains(HasSubstr("a block is discarded only if threads of its own trials waited for a core")));
  for (TrialData& trial : trials) trial.measures["resources/run_queue_wait_pct"] = Single(1);
  const Document sampled = AbReport({Set(trials)}, context);
  EXPECT_THAT(sampled.verdict, Not(Contains(HasSubstr("discarded"))));
  EXPECT_FALSE(sampled.is_void);
}

TEST(AbReport, OneLookOfTooFewSeedsIsInvalidUnlessTheOtherSideHasMore) {
  const auto verdict = [](size_t first, size_t second) {
    std::vector<TrialData> trials;
    for (const auto& [name, n] : {std::pair{"a", first}, {"b", second}}) {
      for (uint64_t seed = 0; seed < n; ++seed) {
        trials.push_back(OfArm(name, seed));
        trials.back().measures["return"] = Single((*name == 'a' ? 100 : 200) + static_cast<double>(seed));
      }
    }
    return AbReport({Set(trials)}, Context("ab")).verdict.front();
  };
  EXPECT_THAT(verdict(3, 3), HasSubstr("Invalid: 3 seeds can never show a difference at 5 %; use 4 or more per arm."));
  EXPECT_THAT(verdict(2, 4), HasSubstr("Invalid: 2 and 4 seeds can never show")) << "1 / C(6, 2) = 0.067";
  EXPECT_THAT(verdict(3, 10), testing::StartsWith("b is better than a: ")) << "1 / C(13, 3) = 0.0035";
}

TEST(AbReport, AnArmWithAMissingRunLeavesTheOthersTheirVerdict) {
  std::vector<TrialData> trials;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (const auto& [name, score] : {std::pair{"a", 100}, {"b", 200}, {"c", 300}}) {
      trials.push_back(OfArm(name, seed));
      trials.back().measures["return"] = Single(score + static_cast<double>(seed));
    }
  }
  trials.back().state = TrialState::kFailed;
  trials.back().outcome = Outcome::kPlugin;
  trials.back().measures.clear();
  const auto verdict = [&] { return AbReport({Set(trials)}, Context("ab")).verdict; };
  EXPECT_THAT(verdict(), Contains(testing::StartsWith("b is better than a: its return is higher by 100")));
  for (const char* pair : {"a and c", "b and c"})
    EXPECT_THAT(verdict(), Contains("No verdict on " + std::string(pair) + ": 1 of 5 runs of c have no return."));
  EXPECT_FALSE(JudgeResults({Set(trials)}, Context("ab")).invalid);
  trials[12].state = TrialState::kFailed, trials[12].measures.clear();  // of a
  EXPECT_THAT(verdict().front(), HasSubstr("Invalid: 1 of 5 runs of a have no return.")) << "one arm is left";
  for (TrialData& trial : trials) trial.outcome = Outcome::kNan;
  EXPECT_THAT(verdict(), Contains(HasSubstr("1 of 5 runs of c diverged and count as the worst score seen.")))
      << "that is a result";
}

TEST(AbReport, AMetricMayBeTheLeastOfACurve) {
  std::vector<TrialData> trials;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (const char* name : {"a", "b"}) {
      trials.push_back(OfArm(name, seed));
      const double least = (*name == 'a' ? 5 : 3) + 0.1 * static_cast<double>(seed);
      trials.back().curves["train/loss"] = {{1, 100, 1, least}, {2, 200, 2, 9}};
      trials.back().registered["train/loss"] = {"", -1, ""};
    }
  }
  EXPECT_THAT(AbReport({Set(trials)}, Looks(5, 1, "train/loss@min")).verdict.front(),
              testing::StartsWith("b is better than a: its train/loss@min is lower by 2"));
}

// Two arms on two tasks, five seeds: b is much better on `steep`, and as good as a on `flat`.
std::vector<TrialData> OnTwoTasks() {
  std::vector<TrialData> trials;
  const std::map<std::string, std::vector<double>> scores = {{"a on steep", {10, 12, 11, 13, 14, 12}},
                                                             {"b on steep", {80, 82, 81, 83, 84, 82}},
                                                             {"a on flat", {-500, -480, -490, -510, -470, -495}},
                                                             {"b on flat", {-490, -500, -470, -510, -480, -485}}};
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const char* name : {"a on steep", "b on steep", "a on flat", "b on flat"}) {
      trials.push_back(OfArm(name, seed));
      trials.back().measures["return"] = Single(scores.at(name)[seed]);
    }
  }
  return trials;
}

ReportContext TwoTasks() {
  ReportContext context = Looks(6, 1, "return");
  context.compare.terms.tasks = {{"steep", {0, 100}}, {"flat", {-1000, 0}}};
  return context;
}

TEST(AbReport, NamesTheTasksOnWhichAnArmIsBetter) {
  const Document document = AbReport({Set(OnTwoTasks())}, TwoTasks());
  EXPECT_THAT(document.verdict[0],
              testing::StartsWith("b is better than a on 1 of 2 tasks: steep, where its return is higher by 70"));
  EXPECT_THAT(document.verdict[0],
              HasSubstr("), 6 seeds each; on flat (return: a -490.8 ± 15.0, b -489.2 ± 15.0; ± 95 %; 6 "
                        "seeds each; difference 1.667 (95 % interval -16.71 to 20.05)) they are not shown "
                        "to differ. b wins: it is better than a on at least one task and shown to be worse on none."));
  EXPECT_THAT(document.verdict[1], testing::StartsWith("Over 2 tasks, with 95 % intervals: P(b improves on a) 0.7"));
  EXPECT_THAT(document.verdict[1], HasSubstr("IQM of normalised scores: a 0.3"));
  EXPECT_THAT(document.verdict, Contains(testing::StartsWith("steep: b is better than a: its return is higher by 70")));
  EXPECT_THAT(document.verdict, Contains(testing::StartsWith("flat: Inconclusive: a and b")));
  EXPECT_EQ(test_support::TableOf(document, "evidence").rows.size(), 2u);
  EXPECT_EQ(test_support::TextAt(test_support::TableOf(document, "evidence"), 1, "pair"), "b against a, flat");
  EXPECT_EQ(test_support::TableOf(document, "seeds").columns[4].title, "b on flat");
  EXPECT_EQ(test_support::PanelsOf(test_support::FigureOf(document, "pairs")), (std::vector<std::string>{"steep", "flat"}));
}

TEST(AbReport, ATaskMayOrderItsArmsDifferently) {
  std::vector<TrialData> trials = OnTwoTasks();
  std::ranges::stable_partition(trials, [](const TrialData& trial) { return trial.point != "a on flat"; });
  const Document document = AbReport({Set(trials)}, TwoTasks());
  EXPECT_EQ(document.verdict, AbReport({Set(OnTwoTasks())}, TwoTasks()).verdict);
  std::erase_if(trials, [](const TrialData& trial) { return trial.point == "a on flat"; });
  EXPECT_THROW(AbReport({Set(trials)}, TwoTasks()), std::runtime_error) << "flat has one arm";
}

TEST(AbReport, HasScoresOnOneScaleAndAProfileForSeveralTasks) {
  const Document document = AbReport({Set(OnTwoTasks())}, TwoTasks());
  // By hand: the scores of a are 0.10 to 0.14 and 0.49 to 0.53; six of twelve remain.
  const Table& scores = test_support::TableOf(document, "normalised");
  EXPECT_NEAR(test_support::NumberAt(scores, 0, "iqm"), (0.12 + 0.13 + 0.14 + 0.49 + 0.50 + 0.505) / 6, 1e-12);
  const auto iqm = std::get<Number>(test_support::At(scores, 1, "iqm"));
  EXPECT_LT(*iqm.low, iqm.value);
  EXPECT_GT(*iqm.high, iqm.value);
  // By hand: on steep all 36 pairs, on flat 17 and 5 halves.
  const Table& improvement = test_support::TableOf(document, "probability_of_improvement");
  EXPECT_EQ(test_support::TextAt(improvement, 0, "pair"), "b on a");
  EXPECT_NEAR(test_support::NumberAt(improvement, 0, "improvement"), (1 + 19.5 / 36) / 2, 1e-12);
  const std::vector<nlohmann::json> rows =
      test_support::RowsOf(test_support::FigureOf(document, "profile"), "scores above a threshold", "mean");
  ASSERT_EQ(rows.size(), 2 * 101u);
  EXPECT_EQ(rows[0]["value"], 1) << "every score is above 0";
  EXPECT_EQ(rows[30]["name"], "a");
  EXPECT_EQ(rows[30]["value"], 0.5) << "scores on flat are above 0.3";
  EXPECT_EQ(rows[30]["low"], 0.5) << "drawn inside each task";
  EXPECT_EQ(rows[101 + 60]["value"], 0.5) << "scores on steep are above 0.6";
  EXPECT_EQ(rows[100]["value"], 0);
}

TEST(AbReport, OneTaskThatIsInvalidMakesAllInvalid) {
  std::vector<TrialData> trials = OnTwoTasks();
  for (TrialData& trial : trials)
    if (trial.point == "b on flat") trial.config["budget"]["iterations"] = 9;
  const std::vector<std::string> verdict = AbReport({Set(trials)}, TwoTasks()).verdict;
  ASSERT_EQ(verdict.size(), 1u);
  EXPECT_THAT(verdict[0], testing::StartsWith("Invalid. On flat: The arms have unequal budgets: "));
  EXPECT_TRUE(JudgeResults({Set(trials)}, TwoTasks()).invalid);
  EXPECT_TRUE(JudgeResults({Set(OnTwoTasks())}, TwoTasks()).decided);
}

TEST(AbReport, NeverPairsAKeptScheduleWithAnother) {
  std::vector<TrialData> trials = OnTwoTasks();
  for (TrialData& trial : trials)
    if (trial.point == "b on flat") trial.config["schedule_budget"] = {{"iterations", 2}};
  const std::vector<std::string> verdict = AbReport({Set(trials)}, TwoTasks()).verdict;
  ASSERT_EQ(verdict.size(), 1u);
  EXPECT_THAT(verdict[0], testing::StartsWith("Invalid. On flat: The schedules of the arms follow different budgets"));
  for (TrialData& trial : trials) trial.config["schedule_budget"] = {{"iterations", 2}};
  EXPECT_FALSE(JudgeResults({Set(trials)}, TwoTasks()).invalid) << "all have kept the same";
}

}  // namespace
}  // namespace backplane
