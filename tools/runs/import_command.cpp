// import: starts the Python program that reads the runs, then derives the tables of the results folder.
#include <filesystem>
#include <string>
#include <vector>

#include "arguments/python_exit.hpp"
#include "arguments/tool_commands.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "input/foreign_runs.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"
#include "runs/commands.hpp"

namespace backplane {
namespace {

constexpr std::chrono::hours kImportCommandLimit{24};

struct ImportArgs {
  std::vector<std::filesystem::path> paths;
  std::string to, name, seed_key, metric, direction, task, reference, join, step;
  std::string typed_program;
  bool quiet = false;
};

std::vector<std::string> WordsOf(const ImportArgs& args) {
  std::vector<std::string> words = {"--program=" + args.typed_program, "--host=" + BesideProgram("backplane").string()};
  const std::pair<const char*, const std::string*> options[] = {
      {"--to", &args.to},     {"--name", &args.name},           {"--seed-key", &args.seed_key},   {"--metric", &args.metric},
      {"--task", &args.task}, {"--direction", &args.direction}, {"--reference", &args.reference}, {"--join", &args.join},
      {"--step", &args.step}};
  for (const auto& [option, value] : options)
    if (!value->empty()) words.push_back(std::string(option) + "=" + *value);
  if (args.quiet) words.emplace_back("--quiet");
  words.emplace_back("--");
  for (const std::filesystem::path& path : args.paths) words.push_back(path.string());
  return words;
}

int Import(const ImportArgs& args) {
  ProcessCall call{ImportProgram(WordsOf(args))};
  if (call.words.empty()) {
    LogError("backplane import: backplane-import.py is missing next to {}\nhint: {}", OwnProgram().string(),
             InstallHint("backplane-runs"));
    return kFailed;
  }
  call.shows_output = true, call.limit = kImportCommandLimit;
  return ExitOfPython(kImportCommand.name, call, RunProcess(call));
}

void DeclareImport(ImportArgs* args, Arguments* add) {
  args->typed_program = add->program();
  add->Add("path", "PATH", &args->paths, "Folders or files of TensorBoard, SB3, RLlib, W&B, MLflow and others").Required();
  add->Add("--to", "OUT", &args->to, "Results folder to write (default: outputs/imported/NAME)");
  add->Add("--name", "PATTERN", &args->name, "Settings in folder names, such as '{env}__{algo}__{seed}__*'");
  add->Add("--seed-key", "KEY", &args->seed_key, "Setting that is the seed");
  add->Add("--metric", "NAME", &args->metric, "Metric that decides (default: a return, score, accuracy or loss)");
  add->Add("--direction", "WORD", &args->direction, "Better direction of the metric: up or down").OneOf({"up", "down"});
  add->Add("--task", "KEY", &args->task, "Setting that names the task (default: the env, if it differs)");
  add->Add("--reference", "FILE", &args->reference, "Worst and best score of each task, as {\"TASK\": [20, 500]}");
  add->Add("--join", "WORD", &args->join, "Join runs whose steps continue each other: yes or no").OneOf({"yes", "no"});
  add->Add("--step", "COLUMN", &args->step, "Column of steps in tables");
  add->Flag("-q,--quiet", &args->quiet, "Print only the results folder");
}

}  // namespace

Command ImportCommand() { return MakeCommand<ImportArgs>(kImportCommand.name, kImportCommand.help, DeclareImport, Import); }

}  // namespace backplane
