#include "program/run_trial_command.hpp"

#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arguments/tool_commands.hpp"
#include "command/command_trial.hpp"
#include "log/log.hpp"
#include "trial/run_trial.hpp"

namespace backplane {
namespace {

struct TrialArgs {
  std::vector<std::filesystem::path> trial_jsons;
  TrialTask task;
};

int RunCommand(std::vector<TrialSpec> specs, const TrialTask& task) {
  if (task.check) return CheckCommands(specs);
  if (task.film.empty()) return RunCommandTrial(std::move(specs.front()));
  LogError("a trial by command plays no episode that the host could film");
  return kExitUsage;
}

// All of a check are of one sort: their plugins, or none.
int RunTask(const TrialArgs& args) {
  std::vector<TrialSpec> specs;
  try {
    for (const std::filesystem::path& file : args.trial_jsons) specs.push_back(ReadTrialSpec(file));
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
  // A plugin that asks for input would wait for ever, also when a person starts a trial at a terminal.
  if (std::freopen("/dev/null", "r", stdin) == nullptr) {
    std::fclose(stdin);
  }
  const int code = RunTask(args);
  std::fflush(nullptr);
  // Plugins are never unloaded: their destructors at exit could still crash a trial that has already ended well.
  _exit(code);
}

}  // namespace

Command RunTrialCommand() {
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
  return MakeCommand<TrialArgs>(kRunTrialCommand.name, kRunTrialCommand.help, declare, RunToEnd);
}

}  // namespace backplane
