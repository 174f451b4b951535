#include "statistics/several.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backplane/rng.h"
#include "statistics/difference.hpp"
#include "statistics/permutation.hpp"
#include "statistics/sample.hpp"
#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

constexpr double kAlpha = 1 - kLevel;
constexpr double kOwnSpread = 1.5;  // a pair whose variance is larger by this factor is judged by its own
constexpr double kRounding = 1e-9;  // of leads that are equal
constexpr size_t kMostDraws = 20'000, kLeastDraws = 2'000, kMostNumbers = 4'000'000;

// The spread that all points share.
struct Pooled {
  double variance = 0, degrees_of_freedom = 0;
};

Pooled Pool(const std::vector<Sample>& samples) {
  Pooled out;
  for (const Sample& sample : samples) out.degrees_of_freedom += static_cast<double>(sample.n) - 1;
  for (const Sample& sample : samples)
    out.variance += sample.variance * (static_cast<double>(sample.n) - 1) / out.degrees_of_freedom;
  return out;
}

// The lead of a over b, in standard errors.
double Lead(const Sample& a, const Sample& b, double pooled) {
  const double size_a = static_cast<double>(a.n), size_b = static_cast<double>(b.n);
  const double shared = pooled * (1 / size_a + 1 / size_b), own = a.variance / size_a + b.variance / size_b;
  return (a.mean - b.mean) / std::sqrt(own > kOwnSpread * shared ? own : shared);
}

// s / sigma, by Wilson and Hilferty (1931): within 0.3 % from six degrees of freedom on.
double DrawSpread(bp_rng* rng, double degrees_of_freedom) {
  const double width = 2 / (9 * degrees_of_freedom), root = 1 - width + bp_rng_normal(rng) * std::sqrt(width);
  return std::sqrt(std::max(root * root * root, 1e-3));
}

// p of `leads`, the largest first, if all points are equal. p[0]: probability that a point is as far below the best as the last
// lead. p[m]: that the worst of m + 1 points is as far below the best as leads[size - m].
std::vector<double> ChanceOf(const std::vector<double>& leads, double degrees_of_freedom, uint64_t seed) {
  const size_t points = leads.size() + 1, draws = std::clamp(kMostNumbers / points, kLeastDraws, kMostDraws);
  std::vector<double> means(points), p(points, 1);
  bp_rng rng{seed, 0};
  size_t draw = 0;
  for (; draw < draws; ++draw) {
    // Neither rule can reach significance any more.
    if (draw == kLeastDraws && std::min(p.front(), p.back()) > 2 * kAlpha * static_cast<double>(draw)) break;
    for (double& mean : means) mean = bp_rng_normal(&rng);
    const double scale = DrawSpread(&rng, degrees_of_freedom) * std::sqrt(2.0), best = std::ranges::max(means);
    double worst = means[0];
    p[0] += (best - worst) / scale >= leads.back();
    for (size_t m = 1; m < points; ++m) {
      worst = std::min(worst, means[m]);
      p[m] += (best - worst) / scale >= leads[leads.size() - m];
    }
  }
  for (double& one : p) one /= static_cast<double>(draw + 1);
  return p;
}

// The same for scores with only two values, by random assignment of all scores to the points.
std::vector<double> ChanceOfDeals(const std::vector<std::vector<double>>& points, const std::vector<double>& leads,
                                  uint64_t seed) {
  std::vector<double> scores, p(points.size(), 1);
  for (const std::vector<double>& point : points) scores.insert(scores.end(), point.begin(), point.end());
  const size_t draws = std::clamp(kMostNumbers / scores.size(), kLeastDraws, kMostDraws);
  bp_rng rng{seed, 0};
  size_t draw = 0;
  for (; draw < draws; ++draw) {
    if (draw == kLeastDraws && std::min(p.front(), p.back()) > 2 * kAlpha * static_cast<double>(draw)) break;
    for (size_t i = scores.size() - 1; i > 0; --i) std::swap(scores[i], scores[bp_rng_below(&rng, i + 1)]);
    std::vector<Sample> dealt;
    auto next = scores.begin();
    for (const std::vector<double>& point : points) {
      const auto end = next + static_cast<ptrdiff_t>(point.size());
      dealt.push_back(Summarise({next, end}));
      next = end;
    }
    const double pooled = Pool(dealt).variance;
    const Sample& best = *std::ranges::max_element(dealt, {}, &Sample::mean);
    double widest = Lead(best, dealt[0], pooled) + kRounding;
    p[0] += widest >= leads.back();
    for (size_t m = 1; m < points.size(); ++m) {
      widest = std::max(widest, Lead(best, dealt[m], pooled) + kRounding);
      p[m] += widest >= leads[leads.size() - m];
    }
  }
  for (double& one : p) one /= static_cast<double>(draw + 1);
  return p;
}

bool AllAreOfTwoValues(const std::vector<std::vector<double>>& points) {
  return std::ranges::all_of(
      points, [&](const auto& a) { return std::ranges::all_of(points, [&](const auto& b) { return AreOfTwoValues(a, b); }); });
}

bool IsTested(Verdict verdict) {
  return verdict == Verdict::kNotShown || verdict == Verdict::kMore || verdict == Verdict::kLess;
}

Judgement Alone(const std::vector<double>& point, const std::vector<double>& base) {
  Judgement out{.verdict = Judge(point, base)};
  if (IsTested(out.verdict)) {
    out.p = *PairP(point, base);
    out.exact = AreOfTwoValues(point, base);
  }
  if (out.verdict == Verdict::kUndefined && point.front() != base.front())
    out = {point.front() > base.front() ? Verdict::kMore : Verdict::kLess, UnpairedPermutation(point, base).p, 1, true};
  return out;
}

// By the exact test of each pair, corrected for all pairs.
std::vector<char> RuledOutWithoutSpread(const std::vector<std::vector<double>>& points, size_t chosen) {
  std::vector<char> out(points.size(), 0);
  const double pairs = static_cast<double>(points.size() * (points.size() - 1)) / 2;
  for (size_t i = 0; i < points.size(); ++i)
    out[i] = points[chosen].front() > points[i].front() && pairs * UnpairedPermutation(points[chosen], points[i]).p < kAlpha;
  return out;
}

}  // namespace

std::vector<Judgement> JudgeAgainst(const std::vector<std::vector<double>>& points, const std::vector<double>& base) {
  std::vector<Judgement> out(points.size());
  std::vector<double> p;
  std::vector<size_t> tested;
  for (size_t i = 0; i < points.size(); ++i) {
    out[i] = Alone(points[i], base);
    if (!IsTested(out[i].verdict)) continue;
    tested.push_back(i);
    p.push_back(out[i].p);
  }
  const std::vector<double> adjusted = HolmAdjusted(p);
  for (size_t i = 0; i < tested.size(); ++i) {
    Judgement& judgement = out[tested[i]];
    judgement.adjusted_p = adjusted[i];
    if (judgement.adjusted_p >= kAlpha) judgement.verdict = Verdict::kNotShown;
  }
  return out;
}

std::optional<std::vector<char>> RuledOut(const std::vector<std::vector<double>>& points, size_t chosen, uint64_t seed) {
  std::vector<Sample> samples;
  for (const std::vector<double>& point : points) samples.push_back(Summarise(point));
  const Pooled pooled = points.size() < 2 ? Pooled{} : Pool(samples);
  if (points.size() < 2 || !std::isfinite(pooled.variance)) return std::nullopt;
  if (!(pooled.variance > 0)) return RuledOutWithoutSpread(points, chosen);

  std::vector<double> leads(points.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < points.size(); ++i) {
    leads[i] = Lead(samples[chosen], samples[i], pooled.variance);
    if (i != chosen) order.push_back(i);
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](size_t i) { return leads[i]; });
  std::vector<double> sorted;
  for (const size_t i : order) sorted.push_back(leads[i]);
  const std::vector<double> p =
      AllAreOfTwoValues(points) ? ChanceOfDeals(points, sorted, seed) : ChanceOf(sorted, pooled.degrees_of_freedom, seed);

  std::vector<char> out(points.size(), 0);
  // With two points, the first rule would be a one-sided test of a side that was chosen after looking.
  const bool all = points.size() > 2 && p[0] < kAlpha;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    if (!all && p[order.size() - rank] >= kAlpha) break;
    const std::optional<double> pair = PairP(points[chosen], points[order[rank]]);
    out[order[rank]] = leads[order[rank]] > 0 && (!pair || *pair < kAlpha);
  }
  return out;
}

}  // namespace backplane::statistics
