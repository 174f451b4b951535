// Settings of a parallel-efficiency experiment as text and numbers: what its tables and figures share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/parallel_efficiency.hpp"

namespace backplane {

// The setting's name, with the distinguishing option if there are several series.
std::string SettingText(const Setting& setting, const ParallelEfficiency& analysis);

// "Bands of parallel efficiency (core efficiency if there are more envs than cores): ideal >= 100 %, ..."
std::string BandsText();

// "Highest throughput"; "recommended_throughput.yaml", with the number of the series where there are several.
std::string GoalTitle(const std::string& goal);
std::string RecommendedName(const ParallelEfficiency& analysis, const std::string& goal, size_t series);

// The trial that stands for a setting: its first usable one. Null if there is none.
const TrialData* TrialOf(const Combined& combined, const Setting& setting);

// Over the usable ones of these trials; absent if none of them has it.
std::optional<Number> MeasureOf(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure);
// The largest over the same trials, of series their largest sample.
std::optional<double> PeakOf(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure);

}  // namespace backplane
