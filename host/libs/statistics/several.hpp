// Verdicts on several points at the same time: with ten equal points, one test per point at 5 % is wrong in 24 % of all cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "statistics/welch_verdict.hpp"

namespace backplane::statistics {

struct Judgement {
  Verdict verdict = Verdict::kOne;
  double p = 1, adjusted_p = 1;  // of this comparison only, and by Holm of all tested ones
  bool exact = false;            // neither side has a spread: the permutation test decides, not Welch's
};

// Judges each point against the baseline as Judge does, or by the exact test if neither side has a spread. All verdicts
// together are wrong in at most 5 % of all cases (Holm).
std::vector<Judgement> JudgeAgainst(const std::vector<std::vector<double>>& points, const std::vector<double>& base);

// One entry per point: whether `chosen` is shown to be above it. Every point has at least kLeastToJudge scores, higher is
// better. All points as good as the best one stay in at least 95 % of all cases. Absent: fewer than two points, or a score that
// is not finite.
//
// Rationale: the point was chosen after looking, so one test per rival finds too much. First, Hsu's multiple comparisons with
// the best (1984): if `chosen` beats every rival by the one-sided critical value, all are ruled out. Else a closed test steps
// down from the worst rival: for rival m, the range from the best of all points to the worst of m equal ones. Both use the
// spread of all points; a pair uses its own if its variance is 1.5 times as large. Welch's test of the pair has to agree, too.
// If no point has a spread, the exact test of the pair decides, corrected for all pairs (Bonferroni).
std::optional<std::vector<char>> RuledOut(const std::vector<std::vector<double>>& points, size_t chosen, uint64_t seed = 0);

}  // namespace backplane::statistics
