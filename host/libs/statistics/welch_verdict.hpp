// Decides whether one side exceeds the other by Welch's test of independent scores, for reports.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace backplane::statistics {

// With fewer scores Welch's interval is too wide to be useful, and its coverage is wrong for skewed scores.
inline constexpr size_t kLeastToJudge = 4;

enum class Verdict {
  kOne = 1,    // a side has at most one score, so its spread is unknown
  kTooFew,     // fewer than kLeastToJudge on a side
  kUndefined,  // no side has a spread
  kNotShown,   // PairP is 0.05 or more
  kMore,       // a exceeds b
  kLess,
};

// p of Welch's unpaired test, or of the exact test if the scores have only two values (solved or not). Absent: no side has a
// spread. Each side needs two scores.
std::optional<double> PairP(const std::vector<double>& a, const std::vector<double>& b);

// Decides by PairP at 5 %. The paired interval is only displayed: choosing between two tests after seeing the data
// finds too many differences.
Verdict Judge(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace backplane::statistics
