#include "rules/finding_scaling.hpp"

#include <algorithm>
#include <cmath>

#include "results/setting_speed.hpp"

namespace backplane {
namespace {

bool HasSpeed(const Setting& setting) { return setting.sps && std::isfinite(setting.sps->value) && setting.sps->value > 0; }

// The nearest smaller setting along one axis.
const Setting* Below(const ParallelEfficiency& parallel, const Setting& to, uint64_t Setting::*axis, uint64_t Setting::*other) {
  const Setting* best = nullptr;
  for (const Setting& s : parallel.settings) {
    if (s.series != to.series || s.*other != to.*other || s.*axis >= to.*axis || !HasSpeed(s)) continue;
    if (!best || s.*axis > best->*axis) best = &s;
  }
  return best;
}

// Per doubling.
Number GainPct(const Number& ratio, double doublings) {
  const auto gain = [&](double of) { return 100 * (std::pow(of, 1 / doublings) - 1); };
  Number number = Reading(gain(ratio.value));
  number.n = ratio.n;
  number.of = ratio.of;
  if (ratio.low) number.low = gain(*ratio.low);
  if (ratio.high) number.high = gain(*ratio.high);
  return number;
}

}  // namespace

std::vector<Step> StepsTo(const ParallelEfficiency& parallel, const Setting& to) {
  std::vector<Step> steps;
  if (!HasSpeed(to)) return steps;
  const auto add = [&](const Setting* from) {
    if (!from) return;
    const double doublings = std::log2(static_cast<double>(to.parallelism()) / static_cast<double>(from->parallelism()));
    steps.push_back({from, &to, GainPct(SpeedRatio(to, *from), doublings)});
  };
  add(Below(parallel, to, &Setting::num_env_runners, &Setting::num_envs_per_env_runner));
  add(Below(parallel, to, &Setting::num_envs_per_env_runner, &Setting::num_env_runners));
  return steps;
}

std::optional<Step> FlatStepTo(const ParallelEfficiency& parallel, const Setting& to) {
  const std::vector<Step> steps = StepsTo(parallel, to);
  const auto least = std::min_element(steps.begin(), steps.end(),
                                      [](const Step& a, const Step& b) { return a.gain_pct.value < b.gain_pct.value; });
  return least != steps.end() && least->flat() ? std::optional(*least) : std::nullopt;
}

const Setting& LastGoodPoint(const ParallelEfficiency& parallel, const Step& flat) {
  const std::string axis = flat.path();
  const Setting* point = flat.from;
  for (bool down = true; down;) {
    down = false;
    for (const Step& step : StepsTo(parallel, *point)) {
      if (step.path() != axis || !step.flat()) continue;
      point = step.from, down = true;
      break;
    }
  }
  return *point;
}

}  // namespace backplane
