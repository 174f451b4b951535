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

TEST_F(RecommendationTest, TakesNoSettingWithAFailedRun) {
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

// As a file may ask for: room for others on every resource.
class LimitedTest : public RecommendationTest {
 protected:
  LimitedTest() { limits_ = {80, 80, 80, 80, 80}; }
};

TEST_F(RecommendationTest, AFullMachineIsBalancedAsLongAsThereIsMemory) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(2, 1, 1500), 100, 80),
           WithUse(MakeTrial(4, 1, 1600), 100, 81)});
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).setting)) << "75 % efficient, both cores in use";
  EXPECT_EQ("the highest SPS with at most 80 % of RAM in use", Of(kBalanced).why);
  limits_.memory = 90;
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(4, 1, 1600), 100, 81)});
  EXPECT_EQ(4u, Parallelism(Of(kBalanced).setting));
}

TEST_F(RecommendationTest, EfficiencyIsThatOfTheCoresWhereRowsExceedThem) {
  limits_.efficiency = 80;
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(4, 1, 1700)});
  EXPECT_EQ(4u, Parallelism(Of(kBalanced).setting)) << "85 % of two cores, 42.5 % of four rows";
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1500)});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting)) << "75 %";
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

TEST_F(RecommendationTest, EfficiencyTakesTheBaselineOnlyIfThereIsNothingElse) {
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1000)});
  EXPECT_EQ(2u, Parallelism(Of(kEfficiency).setting));
  Analyse({MakeTrial(1, 1, 1000)});
  EXPECT_EQ(1u, Parallelism(Of(kEfficiency).setting));
  EXPECT_EQ("the baseline is the only row", Of(kEfficiency).why);
}

TEST_F(LimitedTest, BalancedMayBeTheBaseline) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 50, 10), WithUse(MakeTrial(2, 1, 1500), 50, 10)});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting));
}

TEST_F(LimitedTest, NothingBalancedNamesTheNearestAndTheLimitItBroke) {
  Analyse(
      {WithUse(MakeTrial(1, 1, 1000), 95, 10), WithUse(MakeTrial(2, 1, 1595), 60, 10), WithUse(MakeTrial(4, 1, 3600), 60, 81)});
  EXPECT_FALSE(Of(kBalanced).setting);
  EXPECT_EQ(2u, Parallelism(Of(kBalanced).nearest));
  EXPECT_EQ("none qualifies; 2 x 1 comes closest, but its efficiency of 79.8 % is below 80 %", Of(kBalanced).why);
}

TEST_F(LimitedTest, APeakBreaksTheLimitOfMemoryAndAMeanThatOfTheProcessor) {
  Analyse({WithUse(MakeTrial(1, 1, 1000), 10, 80.5)});
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("but its peak of RAM in use, 80.5 %, is above 80 %"));
  Analyse({WithUse(MakeTrial(1, 1, 1000), 80.04, 10)});
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("but its mean of CPU in use, 80.04 %, is above 80 %"));
}

TEST_F(LimitedTest, WhatWasNotMeasuredDoesNotDisqualifyButIsSaid) {
  TrialData trial = MakeTrial(1, 1, 1000);
  trial.gpus = 1;
  Analyse({trial});
  EXPECT_EQ(1u, Parallelism(Of(kBalanced).setting));
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("; not measured: CPU, RAM, GPU, VRAM"));
}

TEST_F(LimitedTest, AGpuThatIsFullDisqualifies) {
  Analyse({With(MakeTrial(1, 1, 1000), "resources/gpu_util_pct", MeanOf(95, std::nullopt, 10, "samples"))});
  EXPECT_FALSE(Of(kBalanced).setting);
  EXPECT_THAT(Of(kBalanced).why, HasSubstr("mean of GPU in use, 95.0 %, is above 80 %; not measured: CPU, RAM"));
}

TEST_F(RecommendationTest, TiesGoToTheLowerParallelism) {
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(4, 1, 2000), MakeTrial(2, 1, 2000)});
  EXPECT_EQ(2u, Parallelism(Of(kThroughput).setting));
  Analyse({MakeTrial(1, 1, 1000), MakeTrial(2, 1, 1000), MakeTrial(4, 1, 2000)});
  EXPECT_EQ(2u, Parallelism(Of(kEfficiency).setting));
}

TEST_F(RecommendationTest, WithoutAnySpeedThereIsNone) {
  Analyse({MakeTrial(1, 1, std::nullopt)});
  for (const Recommendation& one : found_.recommendations.at(0)) {
    EXPECT_FALSE(one.setting) << one.goal;
    EXPECT_FALSE(one.nearest) << one.goal;
    EXPECT_THAT(one.why, HasSubstr("no trial of these has a speed"));
  }
}

}  // namespace
}  // namespace backplane
