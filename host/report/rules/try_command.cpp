#include "rules/try_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.hpp"
#include "base/shell_argument.hpp"
#include "record/results_folder.hpp"
#include "text/change_arguments.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string Repeated(const char* flag, const json& values, const Fix& fix) {
  std::string text;
  for (const json& value : values.is_array() ? values : json::array()) {
    const std::string typed = Text(value);
    if (!typed.empty() && !GivesWay(fix, typed)) text += fmt::format(" {} {}", flag, ShellArgument(typed));
  }
  return text;
}

// Trials of a value that is not swept may be the same to the store (threads, cores), or take the place of those that there
// are: they get a folder of their own, and the two can be compared.
std::string TryCommand(const ResultSet& set, const Fix& fix, const std::string& program) {
  const std::string file = Text(At(set.run, "config_file"));
  const json& typed = At(set.run, "arguments");
  std::string text =
      fmt::format("{} run {}", program, ShellArgument(file.empty() ? ResultsFolder{set.out}.config().string() : file));
  text += Repeated("--set", At(set.run, "set"), fix) + Repeated("--sweep", At(set.run, "sweep"), fix);
  if (const std::string preset = Text(At(typed, "preset")); !preset.empty()) text += " --preset " + ShellArgument(preset);
  text += Repeated("--plugin-path", At(typed, "plugin_path"), fix);
  if (!Text(At(typed, "skip_invalid")).empty()) text += " --skip-invalid";
  for (const char* flag : {"jobs", "gpus"}) {
    if (const std::string value = Text(At(typed, flag)); !value.empty()) text += fmt::format(" --{} {}", flag, value);
  }
  text += " " + ChangeArgument(fix);
  const std::string out = fix.swept ? Text(At(typed, "out")) : TryFolder(set.out).string();
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
