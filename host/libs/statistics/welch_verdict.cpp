#include "statistics/welch_verdict.hpp"

#include <algorithm>

#include "statistics/difference.hpp"

namespace backplane::statistics {

Verdict Judge(const std::vector<double>& a, const std::vector<double>& b) {
  const size_t fewer = std::min(a.size(), b.size());
  if (fewer < 2) return Verdict::kOne;
  if (fewer < kLeastToJudge) return Verdict::kTooFew;
  const std::optional<Difference> difference = WelchDifference(a, b);
  if (!difference) return Verdict::kUndefined;
  return difference->low > 0 ? Verdict::kMore : difference->high < 0 ? Verdict::kLess : Verdict::kNotShown;
}

}  // namespace backplane::statistics
