// Verdicts on several points together: with ten equal points, one test per point at 5 % is wrong in 24 % of cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "statistics/welch_verdict.hpp"

namespace backplane::statistics {

struct Judgement {
  Verdict verdict = Verdict::kOne;
  double p = 1, adjusted_p = 1;  // of this comparison, and after Holm's adjustment over all of them
  bool exact = false;            // scores of one or two values: the permutation test decides instead of Welch's
};

// Judges each point against the baseline like Judge, or by the exact test if no side has a spread. The probability of
// any wrong verdict is at most 5 % (Holm).
std::vector<Judgement> JudgeAgainst(const std::vector<std::vector<double>>& points, const std::vector<double>& base);

// One entry per point: true if `chosen` is shown to be above it. Every point needs at least kLeastToJudge scores; higher is
// better. All points equal to the best one stay in at least 95 % of cases. Absent: fewer than two points, or a score that is
// not finite.
//
// Rationale: the point was chosen after seeing the data, so one test per rival finds too much. First, Hsu's multiple
// comparisons with the best (1984): if `chosen` beats every rival by the one-sided critical value, all are ruled out. Otherwise
// a closed test steps down from the worst rival: for rival m, it uses the range from the best of all points to the worst of m
// equal ones. Both use the pooled spread; a pair uses its own if its variance is 1.5 times as large. PairP of the pair
// must agree, too. If no point has a spread, the exact test of the pair decides, corrected for all pairs (Bonferroni).
std::optional<std::vector<char>> RuledOut(const std::vector<std::vector<double>>& points, size_t chosen, uint64_t seed = 0);

}  // namespace backplane::statistics
