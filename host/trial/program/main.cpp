// backplane-trial: runs, checks or films a trial, or plays candidates for a running one. Batches start it, and so does
// `backplane run-trial`.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/parse.hpp"
#include "arguments/tool_commands.hpp"
#include "base/standard_descriptors.hpp"
#include "command/command_trial.hpp"
#include "contract/checkpoint_files.hpp"
#include "contract/trial_spec.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"
#include "trial/device_limit.hpp"
#include "trial/run_trial.hpp"
#include "trial/run_worker.hpp"

namespace backplane {
namespace {

constexpr char kAbout[] = "Run one prepared trial";

struct TrialArgs {
  std::vector<std::filesystem::path> trial_jsons;
  TrialTask task;
};

int RunCommand(std::vector<TrialSpec> specs, const TrialTask& task) {
  if (task.check) return CheckCommands(specs);
  if (task.records()) return RunCommandTrial(std::move(specs.front()));
  LogError("expected a trial with plugins, got one that runs a command: its {}",
           !task.film.empty()     ? "episodes cannot be filmed"
           : !task.policy.empty() ? "policy is in the command's own files"
                                  : "episodes cannot be evaluated");
  return kExitUsage;
}

// All trials of a check have the same kind: plugins, or a command.
int RunTask(const TrialArgs& args) {
  std::vector<TrialSpec> specs;
  try {
    for (const std::filesystem::path& file : args.trial_jsons) {
      specs.push_back(ReadTrialSpec(file));
      LimitGpuMemory(args.task.records(), &specs.back().experiment.resources);
    }
  } catch (const std::runtime_error& e) {
    LogError("{}", e.what());
    return kExitUsage;
  } catch (const std::bad_alloc&) {
    return kExitHostOom;
  }
  if (specs.front().experiment.HasCommand()) return RunCommand(std::move(specs), args.task);
  return RunTrial(std::move(specs), args.trial_jsons.front(), args.task);
}

int RunToEnd(const TrialArgs& args) {
  // Otherwise a plugin that reads standard input would wait forever if a person starts a trial at a terminal.
  if (std::freopen("/dev/null", "r", stdin) == nullptr) {
    std::fclose(stdin);
  }
  const int code = RunTask(args);
  std::fflush(nullptr);
  // Plugins are never unloaded, because their destructors could crash a trial at exit that has ended without an error.
  _exit(code);
}

Command RunTrialCommand() {
  const auto declare = [](TrialArgs* args, Arguments* add) {
    add->Add("trial_json", "FILE", &args->trial_jsons, "trial.json of a results folder; several with --check").Required();
    const Argument check =
        add->Flag("--check", &args->task.check, "Only check that the plugins accept their options and fit together");
    const Argument film =
        add->Add("--film", "FILE", &args->task.film, "Only play an evaluation episode and write its pictures as JSON")
            .Excludes(check);
    add->Add("--episode", "N", &args->task.episode, "Number of the episode, from 0").Needs(film);
    const Argument policy = add->Add("--policy", "FILE", &args->task.policy, "Only write the policy and some of its actions")
                                .Excludes(check)
                                .Excludes(film);
    const Argument evaluate =
        add->Add("--evaluate", "FILE", &args->task.evaluate, "Only play the evaluation of this order, for `backplane evaluate`")
            .Excludes(check)
            .Excludes(film)
            .Excludes(policy);
    add->Add("--inspect", "FILE", &args->task.inspect, "Also write the rollout of this order, for `backplane inspect`")
        .Excludes(check)
        .Excludes(film)
        .Excludes(policy)
        .Excludes(evaluate);
    add->Add("--checkpoint", "last|best|N", &args->task.checkpoint,
             "Checkpoint of the film or policy: the last, the best, or after N iterations");
    add->Check([args] {
      const bool several = args->trial_jsons.size() > 1 && !args->task.check;
      return several ? "expected one trial.json without --check, got several" : WhyNoCheckpointName(args->task.checkpoint);
    });
  };
  return MakeCommand<TrialArgs>(kRunTrialCommand.name, kRunTrialCommand.help, declare, RunToEnd);
}

// A rollout worker (trial/run_worker.hpp). Only trials start it, so it is no command of the parser.
[[noreturn]] void Play(const std::vector<std::string>& arguments) {
  int code = kExitUsage;
  try {
    code = RunWorker(WorkerOrderFromArguments(arguments));
  } catch (const std::runtime_error& e) {
    LogError("{}", e.what());
  }
  std::fflush(nullptr);
  _exit(code);  // plugins are never unloaded
}

}  // namespace
}  // namespace backplane

int main(int argc, char** argv) {
  backplane::OpenStandardDescriptors();
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, waiting for a child is impossible
  backplane::OwnProgram();
  if (argc > 1 && std::string_view(argv[1]) == "play") backplane::Play({argv + 2, argv + argc});
  backplane::CommandLine line;
  line.program = "backplane";
  line.words = backplane::TypedWords(argc, argv);
  if (line.words == std::vector<std::string>{"--about"}) return std::puts(backplane::kAbout) < 0;
  line.about = backplane::kAbout;
  line.version = BACKPLANE_VERSION;
  line.commands = {backplane::RunTrialCommand()};
  line.usage_code = backplane::kExitUsage;
  return backplane::RunCommandLine(line);
}
