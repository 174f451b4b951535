// The figures of the report on parallel efficiency.
#pragma once

#include <vector>

#include "render/document.hpp"
#include "results/combine.hpp"
#include "results/parallel_efficiency.hpp"

namespace backplane {

// parallel_efficiency_analysis (up to six panels), then ResourceFigures.
std::vector<Figure> ParallelEfficiencyFigures(const Combined& combined, const ParallelEfficiency& analysis);

}  // namespace backplane
