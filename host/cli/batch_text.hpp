// The terminal text at the end of a batch.
#pragma once

#include <optional>
#include <string>

#include "batch/batch.hpp"
#include "cli/commands.hpp"

namespace backplane {

// Returns the report program's text, if the experiment requests a report and a trial has run. A failed report is an error on
// stderr and changes nothing else: the results are kept, and `report` writes it later.
std::optional<std::string> ReportAfterRun(const BatchRequest& request, const BatchReport& batch, const RunArgs& args);

// Results to stdout, failures and what to do about them to stderr; as JSON with args.json, in one line with args.quiet.
// `report`: of ReportAfterRun, which then has the word.
void PrintBatch(const BatchRequest& request, const BatchReport& batch, const std::optional<std::string>& report,
                const RunArgs& args);

}  // namespace backplane
