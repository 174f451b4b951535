#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/parallel_efficiency.hpp"
#include "support/trials.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::Not;

TrialData WithUse(TrialData trial, double cpu_mean_pct, double ram_peak_pct) {
  Number ram = MeanOf(1, std::nullopt, 10, "samples");
  ram.max = ram_peak_pct;
  trial.measures["resources/cpu_quota_pct"] = MeanOf(cpu_mean_pct, std::nullopt, 10, "samples");
  trial.measures["resources/memory_limit_pct"] = ram;
  return trial;
}

class RecommendationTest : public testing::Test {
 protected:
  void Analyse(std::vector<TrialData> trials) {
    found_ = AnalyseParallelEfficiency(Combine({MakeSet(std::move(trials))}), nullptr, limits_);
  }
  const Recommendation& Of(size_t goal) const { return found_.recommendations.at(0).at(goal); }
  uint64_t Parallelism(const std::optional<size_t>& setting) const {
    return setting ? found_.settings.at(*setting).parallelism() : 0;
  }
  static constexpr size_t kThroughput = 0, kEfficiency = 1, kBalanced = 2;
  ParallelEfficiency found_;
  BalancedLimits limits_;
};

TEST_F(RecommendationTest, SkipsSettingsWithAFailedTrial) {
  std::vector<TrialData> trials = {MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1900), MakeTrial(4, 1, 9000), MakeTrial(4, 1, 9000)};
  trials[3].seed = 1;
  trials[3].trial_id += "-1";
  trials[3].state = TrialState::kFailed;
  trials[3].outcome = Outcome::kNan;
  Analyse(trials);
  for (const size_t goal : {kThroughput, kEfficiency, kBalanced}) {
    EXPECT_EQ(2u, Parallelism(Of(goal).setting)) << goal;
    EXPECT_THAT(Of(goal).why, HasSubstr("; not considered: 4 x 1 (1 of 2 seeds FAILED (nan)")) << goal;
  }
}

// Limits of a file that leaves a part of every resource to others.
class LimitedTest : public RecommendationTest {
 protected:
  LimitedTest() { limits_ = {80, 80, 80, 80, 80}; }
};

// The seeds of one setting, with these returns.
std::vector<TrialData> WithReturns(uint64_t runners, double sps, const std::vector<double>& returns) {
  std::vector<TrialData> trials;
  for (size_t seed = 0; seed < returns.size(); ++seed)
    trials.push_back(
        With(WithUse(MakeTrial(runners, 1, sps, seed), 100, 10), "return", MeanOf(returns[seed], std::nullopt, 1, "episodes")));
  return trials;
}
std::vector<TrialData> Together(std::vector<TrialData> all, const std::vector<TrialData>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(RecommendationTest, AFullMachineIsBalancedIfMemoryIsLeft) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(2, 1, 1600), 100, 80),
           WithUse(MakeTrial(4, 1, 1700), 100, 81)});
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting)) << "80 % of two cores, both in use";
  EXPECT_EQ("the highest SPS with a core efficiency of at least 80 %, at most 80 % of RAM in use", Of(kBalanced).why);
  limits_.memory = 90;
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(4, 1, 1700), 100, 81)});
  EXPECT_EQ(4u, Parallelism(Of(kBalanced).setting)) << "85 % of two cores, 42.5 % of four rows";
}

TEST_F(RecommendationTest, CountsMemoryOfTheGrantIfThereIsOne) {
  TrialData trial = WithUse(MakeTrial(1, 1, 1000), 50, 10);
  trial.measures["resources/ram_system_pct"] = MeanOf(95, std::nullopt, 10, "samples");
  Analyse({trial});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting)) << "other programs fill the machine, not the grant";
  trial.measures.erase("resources/memory_limit_pct");
  Analyse({trial});
  EXPECT_EQ("no setting is within all limits; 1 x 1 comes closest, but its peak use of RAM, 95.0 %, is above 80 %",
            Of(kBalanced).why);
}

TEST_F(RecommendationTest, BalancedIsByCoreEfficiency) {
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1500)});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting)) << "75 %";
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(1, 2, 1100)});
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting)) << "one runner fills one core: 110 % of it, 55 % of two rows";
  limits_.efficiency = 70;
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1500)});
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting));
}

// Welch's interval of 400, 410, 390, 400 less 500, 510, 490, 500 is -100 +- 14.1; of 495 more each, it holds 0.
TEST_F(RecommendationTest, BalancedHasAReturnThatIsNotShownToBeBelowTheBest) {
  Analyse(Together(WithReturns(1, 1000, {500, 510, 490, 500}), WithReturns(2, 1900, {400, 410, 390, 400})));
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting));
  EXPECT_EQ(
      "the highest SPS with a core efficiency of at least 80 %, at most 80 % of RAM in use, a return not shown to be below the "
      "best",
      Of(kBalanced).why);
  Analyse(Together(WithReturns(1, 1000, {500, 510, 490, 500}), WithReturns(2, 1900, {495, 505, 485, 495})));
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting));
  Analyse(Together(WithReturns(1, 1000, {500, 500, 500, 500}), WithReturns(2, 1900, {9, 9, 9, 9})));
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting)) << "neither has a spread: exact test, p = 2 / 70";
  Analyse(Together(WithReturns(1, 1000, {500, 510, 490}), WithReturns(2, 1900, {400, 410, 390})));
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting)) << "three seeds show nothing";
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("; returns were not compared, because that needs 4 seeds"));
}

TEST_F(RecommendationTest, ADivergedSeedIsNotBalanced) {
  limits_.efficiency = 1;
  std::vector<TrialData> trials = WithReturns(2, 1900, {500, 500, 500, 500});
  trials[3].measures.erase("return");
  trials[3].not_finite["return"] = {0, 10, false};
  Analyse(trials);
  EXPECT_EQ("no setting is within all limits; 2 x 1 comes closest, but the return of 1 of 4 seeds is not finite",
            Of(kBalanced).why);
  trials[3].not_finite.clear();
  Analyse(trials);
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting)) << "no episode ended, so the return is unknown";
}

TEST_F(LimitedTest, EachGoalHasItsSetting) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(2, 1, 1950), 60, 10),
           WithUse(MakeTrial(4, 1, 3400), 80, 80), WithUse(MakeTrial(8, 1, 5200), 90, 10)});
  EXPECT_EQ(8u, Parallelism(Of(kThroughput).setting));
  EXPECT_EQ(2u, Parallelism(Of(kEfficiency).setting));
  EXPECT_EQ(4u, Parallelism(Of(kBalanced).setting));
  EXPECT_THAT(Of(kBalanced).why, Not(HasSubstr("not measured")));
  EXPECT_FALSE(Of(kBalanced).nearest);
}

TEST_F(RecommendationTest, EfficiencyChoosesTheBaselineOnlyWithoutAlternatives) {
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1000)});
  EXPECT_EQ(2u, Parallelism(Of(kEfficiency).setting));
  Analyse({MakeTrial(1, 1, 1000)});
  EXPECT_EQ(1u, Parallelism(Of(kEfficiency).setting));
  EXPECT_EQ("the baseline is the only setting", Of(kEfficiency).why);
}

TEST_F(LimitedTest, BalancedMayBeTheBaseline) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(2, 1, 1500), 50, 10)});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting));
}

TEST_F(LimitedTest, WithoutABalancedSettingItNamesTheNearestAndItsLimit) {
  Analyse(
      {WithUse(MakeTrial(1, 1, 1000), 95, 10), WithUse(MakeTrial(2, 1, 1595), 60, 10), WithUse(MakeTrial(4, 1, 3600), 60, 81)});
  EXPECT_FALSE(Of(kBalanced).setting);
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).nearest));
  EXPECT_EQ("no setting is within all limits; 2 x 1 comes closest, but its core efficiency, 79.8 %, is below 80 %",
            Of(kBalanced).why);
}

TEST_F(LimitedTest, APeakBreaksTheMemoryLimitAndAMeanTheProcessorLimit) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 10, 80.5)});
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("but its peak use of RAM, 80.5 %, is above 80 %"));
  Analyse({WithUse(MakeTrial(1, 1, 1000), 80.04, 10)});
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("but its mean use of CPU, 80.04 %, is above 80 %"));
}

TEST_F(LimitedTest, UnmeasuredResourcesAreReportedButDoNotDisqualify) {
  TrialData trial = MakeTrial(1, 1, 1000);
  trial.gpus = 1;
  Analyse({trial});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting));
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("; not measured: CPU, RAM, GPU, VRAM"));
}

TEST_F(LimitedTest, AGpuThatIsFullDisqualifies) {
  Analyse({With(MakeTrial(1, 1, 1000), "resources/gpu_util_pct", MeanOf(95, std::nullopt, 10, "samples"))});
  EXPECT_FALSE(Of(kBalanced).setting);
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("mean use of GPU, 95.0 %, is above 80 %; not measured: CPU, RAM"));
}

TEST_F(RecommendationTest, TiesGoToTheLowerParallelism) {
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(4, 1, 2000), MakeTrial(2, 1, 2000)});
  EXPECT_EQ(2u, Parallelism(Of(kThroughput).setting));
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1000), MakeTrial(4, 1, 2000)});
  EXPECT_EQ(2u, Parallelism(Of(kEfficiency).setting));
}

TEST_F(RecommendationTest, IsMissingWithoutASpeed) {
  Analyse({MakeTrial(1, 1, std::nullopt)});
  for (const Recommendation& one : found_.recommendations.at(0)) {
    EXPECT_FALSE(one.setting) << one.goal;
    EXPECT_FALSE(one.nearest) << one.goal;
    EXPECT_THAT(one.why, HasSubstr("none of these trials has a speed"));
  }
}

}  // namespace
}  // namespace backplane
