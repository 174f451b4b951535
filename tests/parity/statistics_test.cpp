// Compares host/libs/statistics with scipy and rliable, on samples of statistics_oracle.py.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/difference.hpp"
#include "statistics/equivalence.hpp"
#include "statistics/log_rank.hpp"
#include "statistics/permutation.hpp"
#include "statistics/robust.hpp"

namespace backplane::parity {
namespace {

using Json = nlohmann::json;
using Scores = std::vector<double>;

// Relative above one, absolute below.
void ExpectNear(double ours, const Json& theirs, const std::string& what, double tolerance = 1e-8) {
  const double wanted = theirs.get<double>();
  EXPECT_NEAR(ours, wanted, tolerance * std::max(1.0, std::abs(wanted))) << what;
}

TEST(StatisticsParity, SamplesAreJudgedAsByThePackages) {
  const Json samples = TheOracle().Ask({{"do", "samples"}, {"seed", 3}, {"count", 120}})["samples"];
  ASSERT_GT(samples.size(), 100u);
  int shown = 0, pairs = 0;
  for (const Json& sample : samples) {
    const std::string at = sample.dump();
    const Scores a = sample["a"], b = sample["b"];
    const auto welch = statistics::WelchDifference(a, b);
    ASSERT_TRUE(welch.has_value()) << at;
    const Json& theirs = sample["welch"];
    // The packages compute the variance of scores far from zero less precisely: they agree with us in six digits of t.
    for (const auto& [ours, place] :
         {std::pair{welch->t, 0}, {welch->degrees_of_freedom, 1}, {welch->p, 2}, {welch->low, 3}, {welch->high, 4}})
      ExpectNear(ours, theirs[place], at, 1e-6);

    const double margin = sample["margin"];
    const statistics::Equivalence equivalence = statistics::TwoOneSided(*welch, margin);
    for (const auto& [ours, place] : {std::pair{equivalence.p, 0}, {equivalence.low, 1}, {equivalence.high, 2}})
      ExpectNear(ours, sample["tost"][place], at, 1e-6);
    shown += equivalence.shown();

    const statistics::PermutationTest test = statistics::UnpairedPermutation(a, b);
    EXPECT_TRUE(test.exact);
    ExpectNear(test.p, sample["unpaired"], at);
    ExpectNear(statistics::InterquartileMean(a), sample["iqm"], at);
    ExpectNear(statistics::ProbabilityOfImprovement({a}, {b}), sample["improvement"], at);
    ExpectNear(statistics::OptimalityGap({a}, margin), sample["gap"], at);
    for (const auto& [q, place] : {std::pair{0.0, 0}, {0.025, 1}, {0.3, 2}, {0.5, 3}, {1.0, 4}})
      ExpectNear(statistics::Quantile(b, q), sample["quantiles"][place], at);

    if (!sample.contains("paired")) continue;
    ++pairs;
    ExpectNear(statistics::PairedDifference(a, b)->p, sample["paired"], at, 1e-6);
  }
  EXPECT_GT(shown, 5);
  EXPECT_GT(pairs, 30);
}

TEST(StatisticsParity, SeveralTasksAreSummarisedAsByRliable) {
  const Json samples = TheOracle().Ask({{"do", "tasks"}, {"seed", 5}, {"count", 30}})["samples"];
  ASSERT_EQ(samples.size(), 30u);
  for (const Json& sample : samples) {
    const std::string at = sample.dump();
    const statistics::Tasks a = sample["a"], b = sample["b"];
    ExpectNear(statistics::InterquartileMean(a), sample["iqm"], at);
    ExpectNear(statistics::OptimalityGap(a, 1), sample["gap"], at);
    ExpectNear(statistics::ProbabilityOfImprovement(b, a), sample["improvement"], at);
    const std::vector<double> profile = statistics::PerformanceProfile(a, sample["thresholds"]);
    for (size_t i = 0; i < profile.size(); ++i) ExpectNear(profile[i], sample["profile"][i], at);
  }
}

// SciPy has the statistic and the curve of Kaplan and Meier; the assignments are enumerated.
TEST(StatisticsParity, ArrivalsAreComparedAsByScipy) {
  const Json samples = TheOracle().Ask({{"do", "arrivals"}, {"seed", 7}, {"count", 40}})["samples"];
  ASSERT_EQ(samples.size(), 40u);
  for (const Json& sample : samples) {
    const std::string at = sample.dump();
    statistics::Arrivals a, b;
    for (const auto& [arm, name] : {std::pair{&a, "a"}, {&b, "b"}})
      for (const Json& one : sample[name]) arm->push_back({one[0], one[1]});
    double expected_less_seen = 0;
    for (const double score : statistics::ScoresOfLogRank(a, b).a) expected_less_seen += score;
    ExpectNear(-expected_less_seen, sample["excess"], at);
    ExpectNear(statistics::LogRankPermutation(a, b).p, sample["p"], at);
    ExpectNear(statistics::MeanUpTo(a, sample["horizon"]).value, sample["area"], at);
  }
}

TEST(StatisticsParity, BootstrapIntervalsEqualScipy) {
  const Scores a = {3258, 2794, 4102, 1017, 3566, 3890, 2950, 3301, 2410, 3777},
               b = {2501, 1875, 3120, 2650, 990, 2275, 2801, 1490, 2333, 2044};
  const Json theirs = TheOracle().Ask({{"do", "bootstrap"}, {"strata", {a, b}}, {"repeats", statistics::kRepeats}});
  const auto compare = [](const std::optional<statistics::Interval>& ours, const Json& interval) {
    ASSERT_TRUE(ours.has_value());
    const double width = interval[1].get<double>() - interval[0].get<double>();
    EXPECT_NEAR(ours->low, interval[0].get<double>(), 0.01 * width);
    EXPECT_NEAR(ours->high, interval[1].get<double>(), 0.01 * width);
  };
  using statistics::Tasks;
  compare(statistics::StratifiedBootstrap(
              {a}, [](const Tasks& drawn) { return statistics::InterquartileMean(drawn); }, 1),
          theirs["iqm"]);
  compare(
      statistics::StratifiedBootstrap(
          {a, b},
          [](const Tasks& drawn) { return statistics::InterquartileMean(drawn[0]) - statistics::InterquartileMean(drawn[1]); },
          1),
      theirs["difference"]);
}

}  // namespace
}  // namespace backplane::parity
