// A report on the screen, and the one that a batch ends with.
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "report/build_report.hpp"
#include "supervise/batch.hpp"

namespace backplane {

// Verdict, the first findings, where everything lies, what to type next.
std::string ReportText(const MadeReport& made, const std::string& program);

// If the experiment asks for a report and anything of it has run. A report that can not be made is said on stderr and changes
// nothing else: the results are safe, and `report` makes it later.
void MakeReportAfterRun(const BatchRequest& request, const BatchReport& batch, const RunArgs& args);

}  // namespace backplane
