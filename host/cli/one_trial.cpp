#include "cli/one_trial.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "batch/local_engine.hpp"
#include "batch/resource_pool.hpp"
#include "batch/watchdog.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"
#include "record/find_trial.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

const PlanLine* LineOf(const std::vector<PlanLine>& plan, const std::string& trial_id) {
  for (const PlanLine& line : plan)
    if (line.trial_id == trial_id) return &line;
  return nullptr;
}

// A trial with another plugin is another trial.
void SayWhatChanged(const PlanLine& line, const TrialSpec& spec) {
  for (const auto& [key, file] : {std::pair("env.plugin", spec.env.file), std::pair("learner.plugin", spec.learner.file)}) {
    const auto then = line.files.find(key);
    if (then != line.files.end() && then->second != Sha256OfFile(file))
      LogError("warning: {} has changed since the trial ran: {}", key, file.string());
  }
}

std::string Silent(const JobEnd& end, double limit_s, const std::filesystem::path& log) {
  std::string why = fmt::format("the trial's process gave no sign of life for {} ({:g} x resources.hang_timeout) and {}",
                                FormatDuration(limit_s), kSilenceLimits, end.left ? "could not be killed" : "was killed");
  if (!end.stuck.empty()) why += "; " + end.stuck;
  if (end.status && end.status->plugin[0] != '\0')
    why += fmt::format("; its last call was in {}", Printable(end.status->plugin));
  return why + "\nhint: repeat the command; the log is " + log.string();
}

}  // namespace

OneTrial OpenTrial(const std::filesystem::path& out, const std::string& name) {
  const std::vector<PlanLine> plan = PlanLinesOf(out);
  OneTrial trial;
  trial.id = FindTrial(out, name, plan);
  trial.folder = TrialFolderOf(out, trial.id);
  trial.spec = ReadTrialSpec(trial.folder.trial_json());
  const PlanLine* line = LineOf(plan, trial.id);
  trial.name = line ? DisplayName(*line, HasSeveralSeeds(plan)) : trial.id;
  if (line) SayWhatChanged(*line, trial.spec);
  return trial;
}

ChildExit RunForTrial(const OneTrial& trial, const std::vector<std::string>& arguments, const std::filesystem::path& log_dir) {
  TrialCommand command;
  command.child.program = TrialProgram();
  command.child.arguments = arguments;
  command.child.stdout_file = AttemptFolder(log_dir).standard_output();
  command.child.stderr_file = AttemptFolder(log_dir).standard_error();
  command.status_file = AttemptFolder(log_dir).status();
  command.silence_limit_s = kSilenceLimits * trial.spec.experiment.resources.hang_timeout_s;
  ResourcePool resource_pool(ThisMachine(), {});
  resource_pool.Require(trial.spec.experiment.resources);
  command.allocation = resource_pool.Take(trial.spec.experiment.resources, /*exclusive=*/false).value();
  LocalEngine engine(command.child.program);
  engine.Start(command);
  for (;;) {
    for (const JobEnd& end : engine.Wait(1000)) {
      if (end.over_silence) throw std::runtime_error(Silent(end, command.silence_limit_s, command.child.stderr_file));
      return end.exit;
    }
  }
}

}  // namespace backplane
