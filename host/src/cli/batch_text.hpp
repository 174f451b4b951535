// What a person reads when a batch has ended.
#pragma once

#include "cli/commands.hpp"
#include "supervise/batch.hpp"

namespace backplane {

// Results to stdout, failures and what to do about them to stderr; as JSON with args.json, in one line with args.quiet.
void PrintBatch(const BatchRequest& request, const BatchReport& report, const RunArgs& args);

}  // namespace backplane
