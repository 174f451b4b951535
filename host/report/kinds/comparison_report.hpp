// The report that sets points side by side: what is compared stands in the experiment file.
#pragma once

#include <vector>

#include "kinds/comparison_points.hpp"
#include "kinds/comparison_spec.hpp"
#include "kinds/report_context.hpp"
#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

// Throws std::runtime_error if report.columns, figures or select say something that can not be understood.
Document ComparisonReport(const std::vector<ResultSet>& sets, const ReportContext& context);

}  // namespace backplane
