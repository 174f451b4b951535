// export policy: lets the trial's process record the policy, and a Python program write and check its forms.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "arguments/python_exit.hpp"
#include "arguments/tool_commands.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "base/scratch_folder.hpp"
#include "contract/checkpoint_files.hpp"
#include "export/commands.hpp"
#include "plugin/installation.hpp"
#include "plugin/trial_process.hpp"
#include "record/find_trial.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kWriteLimit{1};

struct PolicyArgs {
  fs::path out, to;
  std::string trial, checkpoint = std::string(kLastCheckpoint);
};

int ExportPolicy(const PolicyArgs& args) {
  const std::string id = FindTrial(args.out, args.trial, PlanLinesOf(args.out));
  const ScratchFolder scratch(fs::temp_directory_path() / ("backplane-export-" + std::to_string(getpid())));
  const fs::path record = scratch.path() / "policy.record";
  RunTrialProcess(ResultsFolder{args.out}.trial(id).trial_json(),
                  {"--policy", record.string(), "--checkpoint", args.checkpoint});
  ProcessCall write{
      {FindPython(), BesideProgram("backplane-export.py").string(), record.string(), args.to.string(), BACKPLANE_VERSION}};
  write.shows_output = true, write.limit = kWriteLimit;
  return ExitOfPython(kExportPolicyCommand.name, write, RunProcess(write));
}

}  // namespace

Command ExportPolicyCommand() {
  const auto declare = [](PolicyArgs* args, Arguments* add) {
    add->Out(&args->out, "Results folder");
    add->Add("trial", "TRIAL", &args->trial, "Trial name, id or start of the id; needed if there are several");
    add->Add("--to", "FOLDER", &args->to, "Folder to write to").Required();
    add->Add("--checkpoint", "best|last|start|N", &args->checkpoint, "Checkpoint, by name or by its number of iterations")
        .ShowsDefault();
    add->Check([args] { return WhyNoCheckpointName(args->checkpoint); });
  };
  return MakeCommand<PolicyArgs>(kExportPolicyCommand.name, kExportPolicyCommand.help, declare, ExportPolicy);
}

}  // namespace backplane
