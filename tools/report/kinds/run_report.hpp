// The report of a run with one trial: its learning, compared with doing nothing and acting at random.
#pragma once

#include "kinds/report_context.hpp"
#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// As a comparison of one point, with a headline and a first table of its own.
Document RunReport(const std::vector<ResultSet>& sets, const ReportContext& context);

}  // namespace backplane
