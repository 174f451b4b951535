// Use of the machine by the trials: a bar per name, and curves over time.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "figures/figure.hpp"
#include "figures/palette.hpp"
#include "machine/resource_measures.hpp"
#include "results/combine.hpp"

namespace backplane {

struct ResourceChart {
  const char *title, *axis, *measure;
  bool is_share;  // of 100 %
};

inline constexpr std::array<ResourceChart, 4> kResourceCharts = {
    {{"CPU", "% of the granted cores", resource_measure::kCpuQuotaPct, true},
     {"Memory", "MiB of the trial's processes", resource_measure::kRssMb, false},
     {"GPU", "% of the time in use", resource_measure::kGpuUtilPct, true},
     {"GPU memory", "MiB", resource_measure::kVramUsedMb, false}}};

struct ResourceName {
  std::string name;            // of a setting, a point
  std::string series;          // one of the palette's names
  std::vector<size_t> trials;  // indices into Combined::trials
  std::string dash = {};       // a name of `dashes`; empty: as `series`
};

inline constexpr char kResourceBars[] = "resource_utilization_analysis", kResourceCurves[] = "resources_over_time";

// Panels for CPU, memory, GPU and its memory, those without a value left out; no figure without a panel. `thing` as in
// PanelText.
std::vector<Figure> ResourceFigures(const Combined& combined, const std::vector<ResourceName>& names, const Palette& palette,
                                    const Palette& dashes, const std::string& thing);

}  // namespace backplane
