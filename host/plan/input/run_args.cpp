#include "input/run_args.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shell_argument.hpp"

namespace backplane {

std::string PluginPathArguments(const FileArgs& input) {
  std::string text;
  for (const std::string& folder : input.plugin_path) text += " --plugin-path " + ShellArgument(folder);
  return text;
}

std::string FileArguments(const FileArgs& input) {
  std::string text = ShellArgument(input.file.string());
  for (const std::string& set : input.set) text += " --set " + ShellArgument(set);
  text += PluginPathArguments(input);
  return input.preset.empty() ? text : text + " --preset " + ShellArgument(input.preset);
}

std::string SameCommand(const RunArgs& args, const char* command) {
  std::string text = fmt::format("{} {} {}", args.typed_program, command, FileArguments(args.input));
  for (const std::string& sweep : args.sweep) text += " --sweep " + ShellArgument(sweep);
  if (args.skip_invalid) text += " --skip-invalid";
  if (!args.stage.empty()) text += " --stage " + ShellArgument(args.stage);
  // These change the resources of a trial, and --gpus also its identity.
  if (args.jobs) text += fmt::format(" --jobs {}", *args.jobs);
  if (args.gpus) text += fmt::format(" --gpus {}", fmt::join(*args.gpus, ","));
  return args.out.empty() ? text : text + " --out " + ShellArgument(args.out.string());
}

}  // namespace backplane
