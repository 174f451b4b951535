// The report that says how many runners and rows are worth their cores.
#pragma once

#include <vector>

#include "analysis/combine.hpp"
#include "analysis/parallel_efficiency.hpp"
#include "report/document.hpp"
#include "report/report_context.hpp"

namespace backplane {

Document ParallelEfficiencyReport(const std::vector<ResultSet>& sets, const ReportContext& context);

// Its two figures: parallel_efficiency_analysis (six panels) and resource_utilization_analysis (four).
std::vector<Figure> ParallelEfficiencyFigures(const Combined& combined, const ParallelEfficiency& analysis);

}  // namespace backplane
