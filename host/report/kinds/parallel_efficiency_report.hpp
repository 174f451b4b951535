// The report that says how many runners and rows are worth their cores.
#pragma once

#include <vector>

#include "kinds/report_context.hpp"
#include "render/document.hpp"
#include "results/combine.hpp"
#include "results/parallel_efficiency.hpp"

namespace backplane {

Document ParallelEfficiencyReport(const std::vector<ResultSet>& sets, const ReportContext& context);

// Its figures: parallel_efficiency_analysis (up to six panels), then those of ResourceFigures.
std::vector<Figure> ParallelEfficiencyFigures(const Combined& combined, const ParallelEfficiency& analysis);

}  // namespace backplane
