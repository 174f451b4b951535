#include "cli/run_for_trial.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/printable.hpp"
#include "batch/local_engine.hpp"
#include "batch/resource_pool.hpp"
#include "batch/watchdog.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

std::string Silent(const JobEnd& end, double limit_s, const std::filesystem::path& log) {
  std::string why = fmt::format("the trial's process gave no sign of life for {} ({:g} x resources.hang_timeout) and {}",
                                FormatDuration(limit_s), kSilenceLimits, end.left ? "could not be killed" : "was killed");
  if (!end.stuck.empty()) why += "; " + end.stuck;
  if (end.status && end.status->plugin[0] != '\0')
    why += fmt::format("; its last call was in {}", Printable(end.status->plugin));
  return why + "\nhint: repeat the command; the log is " + log.string();
}

}  // namespace

OneTrial OpenTrialWithWarnings(const std::filesystem::path& out, const std::string& name) {
  OneTrial trial = OpenTrial(out, name);
  for (const std::string& warning : trial.warnings) LogError("warning: {}", warning);
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
