#include <cstdio>
#include <exception>

#include "base/json_text.hpp"
#include "cli/commands.hpp"
#include "cli/load_file.hpp"
#include "plugin/loader.hpp"
#include "supervise/supervisor.hpp"

namespace backplane {
namespace {

// The command as it can be typed again.
std::string SameCommand(const RunArgs& args) {
  std::string text = "backplane run " + args.input.file.string();
  for (const std::string& set : args.input.set) {
    text += " --set '" + set + "'";
  }
  for (const std::string& folder : args.input.plugin_path) {
    text += " --plugin-path " + folder;
  }
  return args.out.empty() ? text : text + " --out " + args.out.string();
}

std::vector<std::string> NextCommands(const RunArgs& args, bool completed) {
  const std::string same = SameCommand(args);
  return completed ? std::vector{same + " --fresh", same + " --set seed=1 --fresh"} : std::vector{same, same + " --fresh"};
}

void Print(const SuperviseReport& report, const RunArgs& args) {
  const TrialResult result = ParseResult(report.result);
  if (args.json) {
    std::printf("%s\n", JsonText(report.result, 1).c_str());
  }
  if (!report.completed() && !report.interrupted) {
    std::fputs(FormatFailure(result, report.context).c_str(), stderr);
  } else if (args.quiet && !args.json) {
    std::printf("%s: %s, results in %s\n", report.context.title.c_str(), result.state.c_str(),
                report.context.attempt_dir.c_str());
  } else if (!args.json) {
    std::fputs(FormatSummary(result, report.context).c_str(), stdout);
  }
  if (report.already_complete && !args.quiet) {
    std::fprintf(stderr, "this run was finished before; --fresh starts anew\n");
  }
}

}  // namespace

int RunCommand(const RunArgs& args) {
  PluginSearch search(args.input.plugin_path);
  std::optional<LoadedExperiment> loaded = LoadOrComplain(args.input, &search);
  if (!loaded) {
    return kUsage;
  }
  SuperviseRequest request;
  request.out = args.out.empty() ? std::filesystem::path(loaded->experiment.output_dir) : args.out;
  loaded->experiment.output_dir = request.out.string();
  request.loaded = std::move(*loaded);
  request.config_file = args.input.file;
  request.set = args.input.set;
  request.fresh = args.fresh;
  request.quiet = args.quiet;
  request.program = OwnProgram();
  request.torch_lib = FindTorchLib();
  SuperviseReport report = SuperviseTrial(request);
  report.context.next = NextCommands(args, report.completed());
  Print(report, args);
  return report.completed() ? kOk : report.interrupted ? kInterrupted : kFailed;
}

}  // namespace backplane
