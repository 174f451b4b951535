// A report on the screen, and the one that a batch ends with.
#pragma once

#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "kinds/build_report.hpp"
#include "supervise/batch.hpp"

namespace backplane {

// The headline, `below` it a line that says what this is, the main table, the other verdicts, the first findings, where
// everything lies, what to type next.
std::string ReportText(const MadeReport& made, const std::string& below, const std::string& program);

// If the experiment asks for a report and anything of it has run. A report that can not be made is said on stderr and changes
// nothing else: the results are safe, and `report` makes it later.
std::optional<MadeReport> MakeReportAfterRun(const BatchRequest& request, const BatchReport& batch, const RunArgs& args);

}  // namespace backplane
