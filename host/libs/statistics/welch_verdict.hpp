// Whether one side is more than another, by Welch's interval of independent scores of each: for reports of what has been run.
#pragma once

#include <cstddef>
#include <vector>

namespace backplane::statistics {

// Welch's interval of fewer is so wide that it says little, and its coverage is off where scores are skewed.
inline constexpr size_t kLeastToJudge = 4;

enum class Verdict {
  kOne = 1,    // a side has one score, or none: nothing is known of how another would differ
  kTooFew,     // fewer than kLeastToJudge on a side
  kUndefined,  // no side has a spread
  kNotShown,   // the interval of the difference holds 0
  kMore,       // a is more than b
  kLess,
};

// By Welch's unpaired 95 % interval. The paired one is for the reader: whoever may choose between two tests after looking finds
// too much.
Verdict Judge(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backplane::statistics
