// The report of a run that has one trial: what it learned, beside what doing nothing and acting at random earn.
#pragma once

#include "kinds/report_context.hpp"
#include "render/document.hpp"
#include "results/result_set.hpp"

namespace backplane {

// As a comparison of one point, with a headline and a first table of its own.
Document RunReport(const std::vector<ResultSet>& sets, const ReportContext& context);

}  // namespace backplane
