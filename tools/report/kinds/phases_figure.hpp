// Single phases over time: which part of 100 % each has, stretch by stretch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.hpp"
#include "figures/palette.hpp"
#include "kinds/timed_row.hpp"
#include "results/phase_bands.hpp"

namespace backplane {

inline constexpr char kPhasesFigure[] = "phases_over_time";

// A panel for the first trial of each of the first rows. Absent if no trial recorded enough spans.
std::optional<Figure> PhasesFigure(const Combined& combined, const std::vector<TimedRow>& rows);

// Inputs of the same figure on a live page: the phases in stacking order and the template of a panel.
using PhaseSet = std::array<bool, kPhaseCount>;
std::vector<Phase> PhasesInOrder(const PhaseSet& seen);
std::vector<std::string> PhaseWords(const std::vector<Phase>& phases);
nlohmann::json PhasesPanel(const std::string& title, const std::vector<Phase>& phases, const std::string& thing);

}  // namespace backplane
