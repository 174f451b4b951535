#include "statistics/log_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace backplane::statistics {
namespace {

using Values = std::vector<double>;

// Trials whose times are equal, and the trials that no earlier one had left.
struct Moment {
  double time = 0, events = 0, at_risk = 0;
};

// In the order of the times. A trial censored at an event's time is still at risk.
std::vector<Moment> MomentsOf(Arrivals all) {
  std::ranges::sort(all, {}, &Arrival::time);
  std::vector<Moment> moments;
  for (size_t i = 0; i < all.size(); ++i) {
    if (moments.empty() || moments.back().time != all[i].time)
      moments.push_back({all[i].time, 0, static_cast<double>(all.size() - i)});
    moments.back().events += all[i].reached;
  }
  return moments;
}

Arrivals Part(const Arrivals& arm, size_t from, size_t count) {
  const auto begin = arm.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Arrivals CutAt(Arrivals arm, double horizon) {
  for (Arrival& one : arm) one = {std::min(one.time, horizon), one.reached && one.time <= horizon};
  return arm;
}

// Absent: there is no spread. `a_is_slower` by the test.
bool PointTheOtherWay(const std::optional<Difference>& difference, bool a_is_slower) {
  return difference && difference->value != 0 && (difference->value > 0) != a_is_slower;
}

Judgement Alone(const Arrivals& point, const Arrivals& base, uint64_t seed) {
  const size_t fewer = std::min(point.size(), base.size());
  if (fewer < kLeastToJudge) return {.verdict = fewer < 2 ? Verdict::kOne : Verdict::kTooFew};
  const double p = LogRankPermutation(point, base, seed).p;
  const Verdict told = IsSlower(point, base) ? Verdict::kMore : Verdict::kLess;
  return {.verdict = MeansAgree(point, base) ? told : Verdict::kNotShown, .p = p, .adjusted_p = p};
}

// `a` is cut like `b`. One look takes all trials.
LimitTest TestCut(const Arrivals& a, const Arrivals& b, const LimitPlan& plan) {
  LimitTest out;
  if (plan.n > 0) {
    const LooksTaken taken =
        TakeLooks(b, a, plan.n, {.looks = plan.looks, .alpha = 2 * plan.alpha, .deals = plan.deals, .seed = plan.seed});
    out = {.unconfirmed = taken.told_apart && !taken.confirmed,
           .looks = taken.looks,
           .n = taken.n,
           .difference = taken.difference};
    if (taken.confirmed) out.side = taken.first_is_more ? Side::kAbove : Side::kBelow;
    return out;
  }
  out.looks = 1;
  out.n = std::min(a.size(), b.size());
  out.difference = RestrictedDifference(b, a);
  const bool above = LogRankPermutation(b, a, plan.seed, Tail::kUpper).p <= plan.alpha;
  const bool below = LogRankPermutation(a, b, plan.seed, Tail::kUpper).p <= plan.alpha;
  out.unconfirmed = (above || below) && PointTheOtherWay(out.difference, above);
  if ((above || below) && !out.unconfirmed) out.side = above ? Side::kAbove : Side::kBelow;
  return out;
}

}  // namespace

LogRankScores ScoresOfLogRank(const Arrivals& a, const Arrivals& b) {
  Arrivals all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<Moment> moments = MomentsOf(std::move(all));
  double hazard = 0;
  for (Moment& moment : moments) moment.events = hazard += moment.events / moment.at_risk;  // cumulated, Nelson and Aalen's
  const auto scores_of = [&](const Arrivals& arm) {
    Values scores;
    for (const Arrival& one : arm) {
      const auto at = std::ranges::lower_bound(moments, one.time, {}, &Moment::time);
      scores.push_back(at->events - (one.reached ? 1 : 0));
    }
    return scores;
  };
  return {scores_of(a), scores_of(b)};
}

PermutationTest LogRankPermutation(const Arrivals& a, const Arrivals& b, uint64_t seed, Tail tail) {
  const LogRankScores scores = ScoresOfLogRank(a, b);
  return UnpairedPermutation(scores.a, scores.b, seed, tail);
}

bool IsSlower(const Arrivals& a, const Arrivals& b) {
  double sum = 0;
  for (const double score : ScoresOfLogRank(a, b).a) sum += score;
  return sum > 0;
}

bool MeansAgree(const Arrivals& a, const Arrivals& b) { return !PointTheOtherWay(RestrictedDifference(a, b), IsSlower(a, b)); }

// A curve that ends in an event has reached 0 and needs no extrapolation.
double CommonHorizon(const std::vector<Arrivals>& arms) {
  double horizon = std::numeric_limits<double>::infinity(), latest = 0;
  for (const Arrivals& arm : arms) {
    double last = 0;
    for (const Arrival& one : arm) last = std::max(last, one.time);
    const auto is_censored = [&](const Arrival& one) { return one.time == last && !one.reached; };
    if (std::ranges::any_of(arm, is_censored)) horizon = std::min(horizon, last);
    latest = std::max(latest, last);
  }
  return std::isfinite(horizon) ? horizon : latest;
}

RestrictedMean MeanUpTo(const Arrivals& arm, double horizon) {
  struct Step {
    double area = 0, share = 0;  // area before it; variance of the curve's logarithm there
  };
  std::vector<Step> steps;
  double survival = 1, area = 0, last = 0;
  for (const Moment& moment : MomentsOf(CutAt(arm, horizon))) {
    if (moment.events == 0) continue;
    area += survival * (moment.time - last);
    last = moment.time;
    survival *= 1 - moment.events / moment.at_risk;
    if (moment.events < moment.at_risk)
      steps.push_back({area, moment.events / (moment.at_risk * (moment.at_risk - moment.events))});
  }
  area += survival * (horizon - last);
  double variance = 0;
  for (const Step& step : steps) variance += (area - step.area) * (area - step.area) * step.share;
  const double n = static_cast<double>(arm.size());
  return {area, arm.size() < 2 ? 0 : std::sqrt(variance * n / (n - 1)), arm.size()};
}

std::optional<Difference> RestrictedDifference(const Arrivals& a, const Arrivals& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const double horizon = CommonHorizon({a, b});
  const RestrictedMean of_a = MeanUpTo(a, horizon), of_b = MeanUpTo(b, horizon);
  return WelchOfErrors(of_a.value - of_b.value, of_a.standard_error, of_a.n, of_b.standard_error, of_b.n);
}

LooksTaken TakeLooks(const Arrivals& a, const Arrivals& b, size_t n, const GroupSequentialTest::Plan& plan) {
  LooksTaken out;
  const size_t there = std::min({a.size() / n, b.size() / n, plan.looks});
  GroupSequentialTest test(plan);
  while (out.looks < there && !out.confirmed) {
    const LogRankScores scores = ScoresOfLogRank(Part(a, out.n, n), Part(b, out.n, n));
    test.Look(scores.a, scores.b);
    out.n = n * ++out.looks;
    out.told_apart = test.different();
    out.first_is_more = test.difference() > 0;
    out.difference = RestrictedDifference(Part(a, 0, out.n), Part(b, 0, out.n));
    out.confirmed = out.told_apart && !PointTheOtherWay(out.difference, out.first_is_more);
  }
  return out;
}

std::vector<Judgement> JudgeAgainst(const std::vector<Arrivals>& points, const Arrivals& base, uint64_t seed) {
  std::vector<Judgement> out;
  Values p;
  for (const Arrivals& point : points) {
    out.push_back(Alone(point, base, seed));
    if (out.back().verdict >= Verdict::kNotShown) p.push_back(out.back().p);
  }
  const Values adjusted = HolmAdjusted(p);
  size_t tested = 0;
  for (Judgement& one : out) {
    if (one.verdict < Verdict::kNotShown) continue;
    one.adjusted_p = adjusted[tested++];
    if (one.adjusted_p >= 1 - kLevel) one.verdict = Verdict::kNotShown;
  }
  return out;
}

std::optional<std::vector<char>> RuledOut(const std::vector<Arrivals>& points, size_t chosen, uint64_t seed) {
  const double horizon = CommonHorizon(points);
  std::vector<Values> sooner;  // higher is better
  for (const Arrivals& point : points) {
    sooner.emplace_back();
    for (const Arrival& one : point) sooner.back().push_back(-std::min(one.time, horizon));
  }
  std::optional<std::vector<char>> out = RuledOut(sooner, chosen, seed);
  for (size_t i = 0; out && i < points.size(); ++i) {
    char& is_out = (*out)[i];
    if (is_out != 0) is_out = LogRankPermutation(points[i], points[chosen], seed).p < 1 - kLevel;
  }
  return out;
}

LimitTest TestArrivals(const Arrivals& a, const Arrivals& b, double factor, const LimitPlan& plan) {
  if (a.empty() || b.empty()) return {};
  Arrivals limit = a;
  for (Arrival& one : limit) one.time *= factor;
  const double horizon = CommonHorizon({limit, b});
  return TestCut(CutAt(std::move(limit), horizon), CutAt(b, horizon), plan);
}

}  // namespace backplane::statistics
