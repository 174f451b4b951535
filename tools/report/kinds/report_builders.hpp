// Builders of each kind of report in record/report_kinds.hpp: ComparisonReport and the like, each in its own file.
#pragma once

#include <vector>

#include "kinds/question.hpp"
#include "kinds/report_context.hpp"
#include "record/report_kinds.hpp"
#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

// Throws std::runtime_error if report.columns, figures or select are invalid.
#define DECLARED(kind, ...) Document kind##Report(const std::vector<ResultSet>& sets, const ReportContext& context);
BACKPLANE_REPORT_KINDS(DECLARED)
#undef DECLARED

// The measure that decides in a report of any kind, with its registered unit and direction. Throws likewise.
Question AskedQuestion(const std::vector<ResultSet>& sets, const ReportContext& context);

}  // namespace backplane
