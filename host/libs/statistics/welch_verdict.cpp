#include "statistics/welch_verdict.hpp"

#include <algorithm>

#include "statistics/difference.hpp"
#include "statistics/permutation.hpp"
#include "statistics/sample.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {

std::optional<double> PairP(const std::vector<double>& a, const std::vector<double>& b) {
  const std::optional<Difference> difference = WelchDifference(a, b);
  if (!difference) return std::nullopt;
  return AreOfTwoValues(a, b) ? UnpairedPermutation(a, b).p : difference->p;
}

Verdict Judge(const std::vector<double>& a, const std::vector<double>& b) {
  const size_t fewer = std::min(a.size(), b.size());
  if (fewer < 2) return Verdict::kOne;
  if (fewer < kLeastToJudge) return Verdict::kTooFew;
  const std::optional<double> p = PairP(a, b);
  if (!p) return Verdict::kUndefined;
  if (*p >= 1 - kLevel) return Verdict::kNotShown;
  return Summarise(a).mean > Summarise(b).mean ? Verdict::kMore : Verdict::kLess;
}

}  // namespace backplane::statistics
