// What a person reads when a batch has ended.
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "kinds/build_report.hpp"
#include "supervise/batch.hpp"

namespace backplane {

// What a file without a budget, such as a recommended one, can be started with.
inline constexpr char kSomeBudget[] = "--set budget.iterations=100";

// A file and what was typed with it, as arguments of a command; and the folders of plugins alone.
std::string FileArguments(const FileArgs& input);
std::string PluginPathArguments(const FileArgs& input);

// The command as it can be typed again.
std::string SameCommand(const RunArgs& args);

// Results to stdout, failures and what to do about them to stderr; as JSON with args.json, in one line with args.quiet. `made`:
// its report, which then has the word; NULL where there is none.
void PrintBatch(const BatchRequest& request, const BatchReport& report, const MadeReport* made, const RunArgs& args);

}  // namespace backplane
