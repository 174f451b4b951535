#include "statistics/limit.hpp"

#include <algorithm>
#include <cmath>

#include "statistics/looks.hpp"
#include "statistics/looks_interval.hpp"

namespace backplane::statistics {
namespace {

using Values = std::vector<double>;

Side SideOf(double difference) { return difference > 0 ? Side::kAbove : Side::kBelow; }

// By Student's distribution; one-sided `alpha`.
Side SideOf(const Difference& difference, double alpha) {
  return difference.p < 2 * alpha ? SideOf(difference.value) : Side::kNotShown;
}

LimitTest OneLook(const Values& a, const Values& b, const LimitPlan& plan) {
  LimitTest out;
  if (a.empty() || b.empty()) return out;
  out.looks = 1;
  out.n = std::min(a.size(), b.size());
  if (UnpairedPermutation(b, a, plan.seed, Tail::kUpper).p <= plan.alpha) out.side = Side::kAbove;
  if (UnpairedPermutation(a, b, plan.seed, Tail::kUpper).p <= plan.alpha) out.side = Side::kBelow;
  out.difference = WelchDifference(b, a);
  return out;
}

// If the change equals the limit, both sides are equally likely, because the sides of a deal can be swapped. Welch's test may
// confirm at any later look, so its error is divided among them, too.
LimitTest ManyLooks(const Values& a, const Values& b, const LimitPlan& plan) {
  const LooksTaken taken =
      TakeLooks(b, a, plan.n, {.looks = plan.looks, .alpha = 2 * plan.alpha, .deals = plan.deals, .seed = plan.seed},
                ShareOfALook(plan.looks, 2 * plan.alpha), plan.looks);
  LimitTest out;
  out.looks = taken.looks;
  out.n = taken.n;
  out.difference = taken.difference;
  out.unconfirmed = taken.told_apart && !taken.confirmed;
  if (taken.confirmed) out.side = taken.first_is_more ? Side::kAbove : Side::kBelow;
  return out;
}

}  // namespace

LimitTest TestScores(const Values& a, const Values& b, double factor, const LimitPlan& plan) {
  Values limit = a;
  for (double& value : limit) value *= factor;
  LimitTest out = plan.n == 0 ? OneLook(limit, b, plan) : ManyLooks(limit, b, plan);
  if (plan.n == 0 && out.side != Side::kNotShown && out.difference && SideOf(*out.difference, plan.alpha) != out.side) {
    out.side = Side::kNotShown;
    out.unconfirmed = true;
  }
  return out;
}

LimitTest TestBlocks(const std::vector<std::vector<Block>>& by_look, double ratio, const LimitPlan& plan) {
  LimitTest out;
  Values ratios;
  for (const std::vector<Block>& blocks : by_look) {
    if (out.side != Side::kNotShown || out.looks == plan.looks) break;
    for (const Block& block : blocks) ratios.push_back(LogRatio(block) - std::log(ratio));
    ++out.looks;
    out.n = ratios.size();
    out.difference = MeanDifference(ratios);
    if (out.difference) out.side = SideOf(*out.difference, plan.alpha / static_cast<double>(plan.looks));
  }
  return out;
}

}  // namespace backplane::statistics
