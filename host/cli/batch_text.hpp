// What a person reads when a batch has ended.
#pragma once

#include <optional>
#include <string>

#include "batch/batch.hpp"
#include "cli/commands.hpp"

namespace backplane {

// What the report program shows of a batch's report, if the experiment asks for one and anything of it has run. A report that
// can not be made is said on stderr and changes nothing else: the results are safe, and `report` makes it later.
std::optional<std::string> ReportAfterRun(const BatchRequest& request, const BatchReport& batch, const RunArgs& args);

// Results to stdout, failures and what to do about them to stderr; as JSON with args.json, in one line with args.quiet.
// `report`: of ReportAfterRun, which then has the word.
void PrintBatch(const BatchRequest& request, const BatchReport& batch, const std::optional<std::string>& report,
                const RunArgs& args);

}  // namespace backplane
