#include "cli/one_trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/shell_argument.hpp"
#include "batch/local_engine.hpp"
#include "batch/resource_pool.hpp"
#include "batch/watchdog.hpp"
#include "log/log.hpp"
#include "plugin/plugin_search.hpp"
#include "record/not_results.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/trial_names.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

std::vector<PlanLine> PlanOf(const std::filesystem::path& out) {
  const std::filesystem::path file = ResultsFolder{out}.plan();
  return std::filesystem::exists(file) ? ReadPlanFile(file) : std::vector<PlanLine>();
}

// "trials: 0f3a... (2 x 1), ...; of other plans, by id: ..."
std::string TrialsThere(const std::filesystem::path& out, const std::vector<PlanLine>& plan) {
  constexpr size_t kShown = 8;
  std::vector<std::string> planned, others;
  std::set<std::string> known;
  const std::vector<std::string> names = ShortTrialNames(plan);
  for (const PlanLine& line : plan) {
    if (line.dropped) continue;
    const std::string& name = names[known.size()];
    planned.push_back(name.empty() ? line.trial_id : line.trial_id + " (" + name + ")");
    known.insert(line.trial_id);
  }
  for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{out}.trials()))
    if (const std::string id = entry.path().filename(); !known.contains(id)) others.push_back(id);
  std::sort(others.begin(), others.end());
  const auto list = [&](const std::vector<std::string>& words) {
    const std::vector<std::string> shown(words.begin(), words.begin() + static_cast<ptrdiff_t>(std::min(words.size(), kShown)));
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       words.size() > kShown ? fmt::format(" and {} more", words.size() - kShown) : "");
  };
  return "trials: " + list(planned) + (others.empty() ? "" : "; of other plans, by id: " + list(others));
}

std::string FindTrial(const std::filesystem::path& out, const std::string& prefix, const std::vector<PlanLine>& plan) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{out}.trials(), error)) {
    const std::string id = entry.path().filename().string();
    if (id.starts_with(prefix)) found.push_back(id);
  }
  if (error) throw std::runtime_error(NotResults(out, "trials/"));
  const std::vector<std::string> names = ShortTrialNames(plan);
  for (size_t i = 0, trial = 0; i < plan.size(); ++i) {
    const PlanLine& line = plan[i];
    if (line.dropped) continue;
    if (line.name == prefix || DisplayName(line, true) == prefix || names[trial] == prefix) found.push_back(line.trial_id);
    ++trial;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty() && prefix.empty()) throw std::runtime_error(out.string() + " has no trial yet");
  if (found.empty())
    throw std::runtime_error("no trial of " + out.string() + " has the name '" + prefix + "' or an id that starts with it; " +
                             TrialsThere(out, plan));
  if (found.size() > 1 && prefix.empty())
    throw std::runtime_error(out.string() + " has " + std::to_string(found.size()) + " trials; name one, such as " + found[0] +
                             "\nhint: backplane status " + ShellArgument(out.string()));
  if (found.size() > 1)
    throw std::runtime_error("more than one trial matches the name or start of an id '" + prefix + "': " + found[0] + ", " +
                             found[1]);
  return found.front();
}

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
  const std::vector<PlanLine> plan = PlanOf(out);
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
