// export wandb, mlflow, trackio: starts the Python program that writes runs by the tool's own package.
#include <filesystem>
#include <string>

#include "arguments/python_exit.hpp"
#include "arguments/tool_commands.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"
#include "record/not_results.hpp"
#include "record/results_folder.hpp"
#include "runs/commands.hpp"

namespace backplane {
namespace {

constexpr std::chrono::hours kExportLimit{24 * 365};  // --follow lasts as long as the batch

struct ExportRunsArgs {
  std::string tool;
  std::filesystem::path out, to;  // to: empty: OUT/TOOL
  bool follow = false;
};

int ExportRuns(const ExportRunsArgs& args) {
  if (!std::filesystem::exists(ResultsFolder{args.out}.plan())) {
    LogError("backplane: {}", NotResults(args.out));
    return kUsage;
  }
  const std::filesystem::path to = args.to.empty() ? args.out / args.tool : args.to;
  ProcessCall call{
      {FindPython(), BesideProgram("backplane-export-runs.py").string(), args.tool, args.out.string(), to.string()}};
  if (args.follow) call.words.emplace_back("--follow");
  call.shows_output = true, call.limit = kExportLimit;
  return ExitOfPython("export " + args.tool, call, RunProcess(call));
}

}  // namespace

std::vector<Command> ExportRunsCommands() {
  std::vector<Command> commands = {{"export", "Convert results to other formats", nullptr}};
  for (const ToolCommand& command : kExportRunsCommands) {
    const std::string tool = std::string(command.name).substr(std::string("export ").size());
    const auto declare = [tool](ExportRunsArgs* args, Arguments* add) {
      args->tool = tool;
      add->Out(&args->out);
      add->Add("--to", "FOLDER", &args->to, "Folder to write to instead of OUT/" + tool);
      add->Flag("--follow", &args->follow, "Write new iterations until the batch ends");
    };
    commands.push_back(MakeCommand<ExportRunsArgs>(command.name, command.help, declare, ExportRuns));
  }
  return commands;
}

}  // namespace backplane
