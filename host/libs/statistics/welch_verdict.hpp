// Decides whether one side exceeds the other by Welch's interval of independent scores, for reports.
#pragma once

#include <cstddef>
#include <vector>

namespace backplane::statistics {

// With fewer scores Welch's interval is too wide to be useful, and its coverage is wrong for skewed scores.
inline constexpr size_t kLeastToJudge = 4;

enum class Verdict {
  kOne = 1,    // a side has at most one score, so its spread is unknown
  kTooFew,     // fewer than kLeastToJudge on a side
  kUndefined,  // no side has a spread
  kNotShown,   // the interval of the difference contains 0
  kMore,       // a exceeds b
  kLess,
};

// Uses Welch's unpaired 95 % interval. The paired interval is only displayed: choosing between two tests after seeing the data
// finds too many differences.
Verdict Judge(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backplane::statistics
