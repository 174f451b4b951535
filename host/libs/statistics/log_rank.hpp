// Compares the times until trials reach a goal that some never reach: the log-rank permutation test and the restricted mean.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "statistics/difference.hpp"
#include "statistics/limit.hpp"
#include "statistics/looks.hpp"
#include "statistics/permutation.hpp"
#include "statistics/several.hpp"

namespace backplane::statistics {

// The time at which a trial reached its goal or, if it did not, the time up to which it was observed (right-censored).
struct Arrival {
  double time = 0;
  bool reached = false;
};
using Arrivals = std::vector<Arrival>;

// Log-rank scores (Peto and Peto, 1972): each trial's expected events minus its own, by the risks of both arms together. Their
// sum over an arm is the E - O of the log-rank test. It is above 0 for the slower arm.
struct LogRankScores {
  std::vector<double> a, b;
};
LogRankScores ScoresOfLogRank(const Arrivals& a, const Arrivals& b);

// The log-rank test by assignments of the trials to arms of these sizes instead of chi-squared, which is too liberal for few
// trials. kUpper: a is slower than b. Both arms need at least one trial.
PermutationTest LogRankPermutation(const Arrivals& a, const Arrivals& b, uint64_t seed = 0, Tail tail = Tail::kBoth);

// By the log-rank test. The restricted means agree unless the curves cross.
bool IsSlower(const Arrivals& a, const Arrivals& b);
bool MeansAgree(const Arrivals& a, const Arrivals& b);

// The time up to which all arms are known, so that no curve is extrapolated.
double CommonHorizon(const std::vector<Arrivals>& arms);

// The mean time up to a horizon: the area under the Kaplan-Meier estimate. The error is Greenwood's with the factor n / (n -
// 1), so it is the standard error of the mean if no trial is censored before the horizon. Requires at least one trial.
struct RestrictedMean {
  double value = 0, standard_error = 0;
  size_t n = 0;
};
RestrictedMean MeanUpTo(const Arrivals& arm, double horizon);

// The difference of the restricted means, a minus b, by Student's t as in WelchDifference. Absent under the same conditions.
std::optional<Difference> RestrictedDifference(const Arrivals& a, const Arrivals& b);

// TakeLooks, JudgeAgainst, RuledOut and TestScores for arrivals: the log-rank permutation test decides, and the restricted
// means must not point the other way, as they may if the curves cross. kMore: slower than the baseline. Ruled out: shown to be
// slower than `chosen`, also by the restricted means of all points (several.hpp). TestArrivals multiplies a's times by
// `factor`.
LooksTaken TakeLooks(const Arrivals& a, const Arrivals& b, size_t n, const GroupSequentialTest::Plan& plan);
std::vector<Judgement> JudgeAgainst(const std::vector<Arrivals>& points, const Arrivals& base, uint64_t seed = 0);
std::optional<std::vector<char>> RuledOut(const std::vector<Arrivals>& points, size_t chosen, uint64_t seed = 0);
LimitTest TestArrivals(const Arrivals& a, const Arrivals& b, double factor, const LimitPlan& plan);

}  // namespace backplane::statistics
