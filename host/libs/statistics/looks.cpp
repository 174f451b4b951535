#include "statistics/looks.hpp"

#include <algorithm>

namespace backplane::statistics {
namespace {

std::vector<double> Part(const std::vector<double>& values, size_t from, size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

LooksTaken TakeLooks(const std::vector<double>& a, const std::vector<double>& b, size_t n,
                     const GroupSequentialTest::Plan& plan, double share, size_t least_without_spread) {
  LooksTaken out;
  const size_t there = std::min({a.size() / n, b.size() / n, plan.looks});
  GroupSequentialTest test(plan);
  while (out.looks < there && !out.confirmed) {
    test.Look(Part(a, out.n, n), Part(b, out.n, n));
    out.n = n * ++out.looks;
    out.told_apart = test.different();
    out.first_is_more = test.difference() > 0;
    out.difference = WelchDifference(Part(a, 0, out.n), Part(b, 0, out.n));
    const bool agrees = out.difference ? out.difference->p < share && (out.difference->value > 0) == out.first_is_more
                                       : out.looks >= least_without_spread;
    out.confirmed = out.told_apart && agrees;
  }
  return out;
}

}  // namespace backplane::statistics
