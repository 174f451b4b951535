#include "statistics/sequential.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "backplane/rng.h"
#include "statistics/deal.hpp"
#include "statistics/permutation.hpp"

namespace backplane::statistics {

GroupSequentialTest::GroupSequentialTest(const Plan& plan)
    : plan_(plan), sums_(static_cast<size_t>(plan.deals), 0.0), alive_(sums_.size()) {
  std::iota(alive_.begin(), alive_.end(), size_t{0});
}

bool GroupSequentialTest::Look(const std::vector<double>& a, const std::vector<double>& b) {
  if (different_ || looks_ == plan_.looks) return false;
  Deal deal(a, b);
  sums_[0] += deal.Difference();
  bp_rng rng{bp_seed(plan_.seed, 0, 0, looks_), 0};
  for (size_t i = 1; i < sums_.size(); ++i) sums_[i] += deal.Redeal(&rng);
  rounding_ += deal.rounding();
  ++looks_;
  Leave();
  return true;
}

void GroupSequentialTest::Leave() {
  const double spent = plan_.alpha * static_cast<double>(looks_) / static_cast<double>(plan_.looks);
  // The share is a product of decimal fractions: 0.05 * 3 / 5 * 1000 shall be 30.
  const auto may_have_left = static_cast<size_t>(std::floor(spent * static_cast<double>(plan_.deals) * (1 + 1e-12)));
  if (may_have_left <= left_) return;
  const size_t may_leave = may_have_left - left_;
  if (may_leave >= alive_.size()) return;
  std::vector<double> sizes;
  for (const size_t deal : alive_) sizes.push_back(std::abs(sums_[deal]));
  const auto bound = sizes.begin() + static_cast<std::ptrdiff_t>(may_leave);
  std::ranges::nth_element(sizes, bound, std::ranges::greater{});
  const double largest_that_stays = *bound;
  // Keep sums equal to the bound, up to rounding.
  const size_t before = alive_.size();
  std::erase_if(alive_, [&](size_t deal) { return !Deal::AtLeast(largest_that_stays, sums_[deal], rounding_); });
  left_ += before - alive_.size();
  different_ = alive_.empty() || alive_.front() != 0;
}

double GroupSequentialTest::difference() const { return looks_ == 0 ? 0 : sums_[0] / static_cast<double>(looks_); }

// After k looks there are C(2n, n)^k assignments, each with a mirror image of equal size.
bool GroupSequentialTest::CanTellApart(size_t scores, size_t looks, double alpha) {
  for (size_t k = 1; k <= looks; ++k) {
    const double least = 2 * std::pow(LeastUnpairedP(scores, scores) / 2, static_cast<double>(k));
    if (least <= alpha * static_cast<double>(k) / static_cast<double>(looks) * (1 + 1e-12)) return true;
  }
  return false;
}

size_t GroupSequentialTest::LeastScores(size_t looks, double alpha) {
  size_t n = 1;
  while (LeastUnpairedP(n, n) > alpha / static_cast<double>(looks) * (1 + 1e-12)) ++n;
  return n;
}

}  // namespace backplane::statistics
