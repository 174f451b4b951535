// run-trial: what an engine starts for each trial.
#include <unistd.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "trial/run_trial.hpp"

namespace backplane {
namespace {

struct TrialArgs {
  std::vector<std::filesystem::path> trial_jsons;
  TrialTask task;
};

int RunTrialCommand(const TrialArgs& args) {
  // A plugin that asks for input would wait for ever, also when a person starts a trial at a terminal.
  if (std::freopen("/dev/null", "r", stdin) == nullptr) {
    std::fclose(stdin);
  }
  const int code = RunTrial(args.trial_jsons, args.task);
  std::fflush(nullptr);
  // Plugins are never unloaded: their destructors at exit could still crash a trial that has already ended well.
  _exit(code);
}

}  // namespace

std::vector<Command> RunTrialCommands() {
  const auto declare = [](TrialArgs* args, Arguments* add) {
    add->Add("trial_json", "FILE", &args->trial_jsons, "trial.json of a results folder; several with --check").Required();
    const Argument check =
        add->Flag("--check", &args->task.check, "Only try whether the plugins take their options and fit together");
    const Argument film =
        add->Add("--film", "FILE", &args->task.film, "Only play an evaluation episode and write its pictures, as JSON")
            .Excludes(check);
    add->Add("--episode", "N", &args->task.episode, "Which one, from 0").Needs(film);
    add->Check([args] {
      const bool several = args->trial_jsons.size() > 1 && !args->task.check;
      return std::string(several ? "one trial.json at a time, except with --check" : "");
    });
  };
  return {MakeCommand<TrialArgs>("run-trial", "Run one prepared trial in this process (what `run` starts for each trial)",
                                 declare, RunTrialCommand)};
}

}  // namespace backplane
