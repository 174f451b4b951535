#include "statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backplane/rng.h"
#include "statistics/student.hpp"

namespace backplane::statistics {
namespace {

// Calls `each` with every resampled set of strata; false: no stratum has two scores.
template <class Each>
bool Redraw(const Tasks& strata, uint64_t seed, int repeats, const Each& each) {
  if (std::ranges::none_of(strata, [](const auto& scores) { return scores.size() > 1; })) return false;
  Tasks drawn = strata;
  bp_rng rng{seed, 0};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t s = 0; s < strata.size(); ++s) {
      for (double& score : drawn[s]) score = strata[s][bp_rng_below(&rng, strata[s].size())];
    }
    each(std::as_const(drawn));
  }
  return true;
}

Interval Percentiles(const std::vector<double>& values) {
  return {Quantile(values, 1 - kUpperTail), Quantile(values, kUpperTail)};
}

}  // namespace

double Quantile(std::vector<double> values, double q) {
  const double place = q * static_cast<double>(values.size() - 1), below = std::floor(place);
  const auto low = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(values, low);
  if (place == below) return *low;
  const double next = *std::min_element(low + 1, values.end());
  return *low + (next - *low) * (place - below);
}

std::optional<Interval> StratifiedBootstrap(const Tasks& strata, const std::function<double(const Tasks&)>& figure,
                                            uint64_t seed, int repeats) {
  std::vector<double> figures;
  figures.reserve(static_cast<size_t>(repeats));
  if (!Redraw(strata, seed, repeats, [&](const Tasks& drawn) { figures.push_back(figure(drawn)); })) return std::nullopt;
  return Percentiles(figures);
}

std::optional<std::vector<Interval>> ProfileBand(const Tasks& tasks, const std::vector<double>& thresholds, uint64_t seed) {
  std::vector<std::vector<double>> shares(thresholds.size());
  const bool any = Redraw(tasks, seed, kRepeatsOfProfiles, [&](const Tasks& drawn) {
    const std::vector<double> profile = PerformanceProfile(drawn, thresholds);
    for (size_t i = 0; i < profile.size(); ++i) shares[i].push_back(profile[i]);
  });
  if (!any) return std::nullopt;
  std::vector<Interval> out;
  for (const std::vector<double>& share : shares) out.push_back(Percentiles(share));
  return out;
}

}  // namespace backplane::statistics
