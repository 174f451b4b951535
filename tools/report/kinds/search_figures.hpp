// The figures of a search, of a report and of the page of one that runs.
#pragma once

#include <optional>
#include <vector>

#include "figures/figure.hpp"
#include "kinds/search_parts.hpp"
#include "results/option_importance.hpp"

namespace backplane {

inline constexpr char kBestSoFar[] = "best_so_far", kImportance[] = "importance", kParallel[] = "parallel_coordinates",
                      kIntermediate[] = "intermediate_values";

// Over the numbers of the suggestions and over time; absent: no trial has a value.
std::optional<Figure> BestSoFarFigure(const SearchParts& parts);
std::optional<Figure> ImportanceFigure(const SearchParts& parts, const std::vector<OptionImportance>& importances);
// Absent: no trial has a value, or there is one option alone.
std::optional<Figure> ParallelFigure(const SearchParts& parts);
// The objective while trials ran; absent: none was reported.
std::optional<Figure> IntermediateFigure(const SearchParts& parts);

// Those that there are.
std::vector<Figure> SearchFigures(const SearchParts& parts, const std::vector<OptionImportance>& importances);

}  // namespace backplane
