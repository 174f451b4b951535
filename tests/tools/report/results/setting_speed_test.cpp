// Speeds of settings over seeds, their ratios and bands.
#include "results/setting_speed.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/trials.hpp"

namespace backplane {
namespace {

constexpr double kTail4 = 2.7764451051977987;  // of Student's t with 4 degrees of freedom, 0.975

struct Measured {
  uint64_t runners, rows;
  std::vector<double> sps;  // per seed
};

ParallelEfficiency Analyse(const std::vector<Measured>& settings) {
  std::vector<TrialData> trials;
  for (const Measured& setting : settings) {
    for (size_t seed = 0; seed < setting.sps.size(); ++seed)
      trials.push_back(MakeTrial(setting.runners, setting.rows, setting.sps[seed], seed));
  }
  return AnalyseParallelEfficiency(Combine({MakeSet(std::move(trials))}), nullptr);
}

// Two seeds around a speed whose logarithms have a standard deviation of `sd`.
std::vector<double> Around(double sps, double sd) {
  return {sps * std::exp(sd / std::sqrt(2)), sps * std::exp(-sd / std::sqrt(2))};
}

TEST(SettingSpeed, TheSpreadIsPooledOverAllSettings) {
  const ParallelEfficiency found =
      Analyse({{1, 1, Around(1000, 0.03)}, {1, 2, Around(1100, 0.01)}, {2, 1, Around(1900, 0.02)}, {2, 2, Around(2000, 0.02)}});
  // By hand: four settings x (2 - 1) degrees of freedom; the root of the mean of 9, 1, 4 and 4 is 2.1213 %.
  const double sd = std::sqrt((9 + 1 + 4 + 4) / 4.0) / 100;
  const Setting &first = found.settings[0], &third = found.settings[2];
  EXPECT_EQ(4u, first.spread.degrees_of_freedom);
  EXPECT_NEAR(sd, first.spread.sd, 1e-12);
  EXPECT_NEAR(1000, first.sps->value, 1e-9) << "the mean of the logarithms";
  EXPECT_EQ(2u, first.sps->n);
  EXPECT_NEAR(1000 * std::exp(-kTail4 * sd / std::sqrt(2)), *first.sps->low, 1e-9);
  EXPECT_NEAR(1000 * std::exp(kTail4 * sd / std::sqrt(2)), *first.sps->high, 1e-9);
  const Number ratio = SpeedRatio(third, first, 100);
  EXPECT_NEAR(190, ratio.value, 1e-9);
  EXPECT_NEAR(190 * std::exp(-kTail4 * sd), *ratio.low, 1e-9);
  EXPECT_NEAR(190 * std::exp(kTail4 * sd), *ratio.high, 1e-9);
  EXPECT_TRUE(IsShownFaster(third, first));
  EXPECT_FALSE(IsShownFaster(first, third));
  EXPECT_FALSE(IsShownFaster(found.settings[3], third) || IsShownFaster(third, found.settings[3]))
      << "5 % apart, the interval of the ratio is 6 % wide either way";
}

TEST(SettingSpeed, FewerThanFourDegreesOfFreedomAreTooFewSeeds) {
  const ParallelEfficiency found =
      Analyse({{1, 1, Around(1000, 0.01)}, {2, 1, Around(1900, 0.01)}, {4, 1, Around(3000, 0.01)}});
  EXPECT_FALSE(found.settings[0].sps->low);
  EXPECT_FALSE(SpeedRatio(found.settings[2], found.settings[0]).low);
  EXPECT_EQ("too few seeds", found.settings[2].band);
  EXPECT_FALSE(IsShownFaster(found.settings[2], found.settings[0]));
}

TEST(SettingSpeed, OneSeedKeepsTheIntervalOfItsRunAndHasNoVerdict) {
  const ParallelEfficiency found = Analyse({{1, 1, {1000}}, {2, 1, {1900}}});
  EXPECT_EQ("iterations", found.settings[0].sps->of);
  EXPECT_EQ(10, *found.settings[0].sps->sd);
  EXPECT_FALSE(SpeedRatio(found.settings[1], found.settings[0]).low) << "iterations give no interval for the next run";
  EXPECT_EQ("too few seeds", found.settings[1].band);
}

TEST(SettingSpeed, TheBaselineToItselfIsExact) {
  const ParallelEfficiency found = Analyse({{1, 1, Around(1000, 0.5)}});
  EXPECT_EQ(1, SpeedRatio(found.settings[0], found.settings[0]).value);
  EXPECT_FALSE(SpeedRatio(found.settings[0], found.settings[0]).low);
}

Number Within(double low, double high) {
  Number number = Reading((low + high) / 2);
  number.low = low, number.high = high;
  return number;
}

TEST(BandWord, DependsOnTheWholeInterval) {
  EXPECT_EQ("ideal", BandWord(Within(100, 120)));
  EXPECT_EQ("excellent", BandWord(Within(80, 99)));
  EXPECT_EQ("good", BandWord(Within(60, 79)));
  EXPECT_EQ("bottleneck", BandWord(Within(10, 59)));
}

TEST(BandWord, IsVagueForAWideInterval) {
  EXPECT_EQ("excellent or better", BandWord(Within(95, 101)));
  EXPECT_EQ("good or better", BandWord(Within(70, 90)));
  EXPECT_EQ("good or better", BandWord(Within(60, 130)));
  EXPECT_EQ("good or worse", BandWord(Within(50, 79)));
  EXPECT_EQ("not measured well enough", BandWord(Within(59.9, 80)));
  EXPECT_EQ("not measured well enough", BandWord(Reading(85)));
}

// Eight rows on two cores: 97.8 % of what two cores can, 24.45 % of what eight could.
TEST(BandWord, ComparesWithTheCoresIfRowsExceedThem) {
  const ParallelEfficiency found = Analyse(
      {{1, 1, Around(1000, 0.001)}, {1, 2, Around(1500, 0.001)}, {2, 1, Around(1300, 0.001)}, {8, 1, Around(1956, 0.001)}});
  ASSERT_EQ(8u, found.settings[3].num_env_runners);
  EXPECT_NEAR(24.45, *found.settings[3].efficiency_pct, 1e-9);
  EXPECT_NEAR(97.8, *found.settings[3].core_efficiency_pct, 1e-9);
  EXPECT_EQ("excellent", found.settings[3].band);
  EXPECT_EQ("good", found.settings[1].band) << "two rows on two cores: 75 % of the rows";
}

}  // namespace
}  // namespace backplane
