#include "rules/try_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.hpp"
#include "base/shell_argument.hpp"
#include "record/compare_terms.hpp"
#include "record/results_folder.hpp"
#include "text/change_arguments.hpp"

namespace backplane {
namespace {

std::string Repeated(const char* flag, const std::vector<std::string>& values, const Fix& fix) {
  std::string text;
  for (const std::string& value : values)
    if (!value.empty() && !GivesWay(fix, value)) text += fmt::format(" {} {}", flag, ShellArgument(value));
  return text;
}

// The store may identify trials with an unswept value (threads, cores) with existing ones, or replace those. Use a separate
// folder, so that both can be compared.
std::string TryCommand(const ResultSet& set, const Fix& fix, const std::string& program) {
  const std::string file = set.run.config_file.string();
  const TypedArguments typed = set.run.arguments.value_or(TypedArguments());
  std::string text = fmt::format("{} {} {}", program, CommandOfExperiment(set.config),
                                 ShellArgument(file.empty() ? ResultsFolder{set.out}.config().string() : file));
  text += Repeated("--set", set.run.set, fix) + Repeated("--sweep", set.run.sweep, fix);
  if (!typed.preset.empty()) text += " --preset " + ShellArgument(typed.preset);
  text += Repeated("--plugin-path", typed.plugin_path, fix);
  if (!typed.skip_invalid.empty()) text += " --skip-invalid";
  if (!typed.jobs.empty()) text += " --jobs " + typed.jobs;
  if (!typed.gpus.empty()) text += " --gpus " + typed.gpus;
  text += " " + ChangeArgument(fix);
  const std::string out = fix.swept ? typed.out : TryFolder(set.out).string();
  if (!out.empty()) text += " --out " + ShellArgument(out);
  return fix.swept ? text : text + SettingsForAnotherFolder(At(set.config, "output"), out);
}

}  // namespace

void AddTryCommands(const std::vector<ResultSet>& sets, const std::string& program, Diagnosis* diagnosis) {
  for (Finding& finding : diagnosis->findings) {
    const auto set =
        std::find_if(sets.begin(), sets.end(), [&](const ResultSet& one) { return one.out.string() == finding.out; });
    if (set == sets.end()) continue;
    for (Fix& fix : finding.fixes) fix.command = TryCommand(*set, fix, program);
  }
}

}  // namespace backplane
