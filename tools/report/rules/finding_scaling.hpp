// The gain from one setting to a larger one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/parallel_efficiency.hpp"
#include "results/series.hpp"

namespace backplane {

constexpr double kFlatGainPct = 10;   // SPS that a doubling must add
constexpr double kFullCoresPct = 80;  // core efficiency from which the cores count as filled

// Two settings of a series that differ only in runners, or only in rows per runner, and are neighbours.
struct Step {
  const Setting* from = nullptr;
  const Setting* to = nullptr;
  Number gain_pct;  // SPS gain per doubling, converted for other factors; n is the smaller one

  const char* path() const { return from->num_env_runners != to->num_env_runners ? kRunnersPath : kRowsPath; }
  // The value of that path in a setting.
  uint64_t ValueIn(const Setting& s) const {
    return from->num_env_runners != to->num_env_runners ? s.num_env_runners : s.num_envs_per_env_runner;
  }
  bool flat() const { return gain_pct.value < kFlatGainPct; }
};

// Steps that end at a setting: none, one, or one per axis.
std::vector<Step> StepsTo(const ParallelEfficiency& parallel, const Setting& to);
// The step with the least gain, if it is flat.
std::optional<Step> FlatStepTo(const ParallelEfficiency& parallel, const Setting& to);
// Follows flat steps down the axis to the first setting whose step was not flat.
const Setting& LastGoodPoint(const ParallelEfficiency& parallel, const Step& flat);

inline bool CoresAreFull(const Setting& setting) { return setting.core_efficiency_pct.value_or(0) >= kFullCoresPct; }

}  // namespace backplane
