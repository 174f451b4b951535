#include "kinds/setting_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace backplane {

std::string SettingText(const Setting& setting, const ParallelEfficiency& analysis) {
  const std::string& label = analysis.series[setting.series].label;
  return analysis.series.size() > 1 && !label.empty() ? label + " " + setting.name : setting.name;
}

std::string BandsText() {
  return fmt::format(
      "Bands of parallel efficiency (core efficiency if there are more envs than cores): {} >= {} %, {} >= {} %, {} >= {} %, "
      "{} below. If "
      "the interval spans several bands, the cell names their range",
      BandName(EfficiencyBand::kIdeal), kIdealPct, BandName(EfficiencyBand::kExcellent), kExcellentPct,
      BandName(EfficiencyBand::kGood), kGoodPct, BandName(EfficiencyBand::kBottleneck));
}

std::string GoalTitle(const std::string& goal) {
  if (goal == "throughput") return "Highest throughput";
  if (goal == "efficiency") return "Highest efficiency";
  return "Balanced";
}

std::string RecommendedName(const ParallelEfficiency& analysis, const std::string& goal, size_t series) {
  return analysis.series.size() > 1 ? fmt::format("recommended_{}_{}.yaml", goal, series + 1)
                                    : fmt::format("recommended_{}.yaml", goal);
}

const TrialData* TrialOf(const Combined& combined, const Setting& setting) {
  for (size_t trial : setting.trials) {
    if (combined.trials[trial].data.usable()) return &combined.trials[trial].data;
  }
  return nullptr;
}

std::optional<Number> MeasureOf(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure) {
  std::vector<Number> numbers;
  for (size_t trial : trials) {
    const TrialData& data = combined.trials[trial].data;
    const Number* number = data.usable() ? data.Find(measure) : nullptr;
    if (number) numbers.push_back(*number);
  }
  return OverSeeds(numbers);
}

std::optional<double> PeakOf(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure) {
  std::optional<double> peak;
  for (size_t trial : trials) {
    const TrialData& data = combined.trials[trial].data;
    const Number* number = data.usable() ? data.Find(measure) : nullptr;
    if (number) peak = std::max(peak.value_or(-INFINITY), number->max.value_or(number->value));
  }
  return peak;
}

}  // namespace backplane
