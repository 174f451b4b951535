// The baseline of a comparison's points, and the selected point.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kinds/comparison_points.hpp"
#include "kinds/comparison_spec.hpp"

namespace backplane {

// A point that cannot be selected, because not all its runs have a finite score.
struct ExcludedPoint {
  size_t point = 0;
  std::string why;  // "1 of 3 runs diverged"
};

// The choices within one group of machines. Points of different groups are never compared.
struct GroupChoice {
  std::optional<size_t> baseline;                    // index into the points; it has a result
  std::vector<std::optional<size_t>> chosen;         // index into the points, per selection
  std::vector<std::vector<ExcludedPoint>> excluded;  // per selection
  std::string baseline_note;                         // a sentence: why the requested baseline is missing; else empty
};

bool IsUsable(const Combined& combined, const ComparedPoint& point);

// One for each group. `baseline` as in ReportSection.
std::vector<GroupChoice> ChooseInGroups(const Combined& combined, const std::vector<ComparedPoint>& points,
                                        const std::vector<SelectSpec>& selections, const nlohmann::json& baseline);

}  // namespace backplane
