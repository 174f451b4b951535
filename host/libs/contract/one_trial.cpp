#include "contract/one_trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/sha256.hpp"
#include "base/shell_argument.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/trial_names.hpp"

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

// The ids of all trials with this name or start of an id.
std::vector<std::string> Matches(const std::filesystem::path& out, const std::string& prefix,
                                 const std::vector<PlanLine>& plan) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(ResultsFolder{out}.trials(), error)) {
    const std::string id = entry.path().filename().string();
    if (id.starts_with(prefix)) found.push_back(id);
  }
  if (error) throw std::runtime_error(out.string() + ": expected a results folder, got one without trials/");
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
  return found;
}

std::string FindTrial(const std::filesystem::path& out, const std::string& prefix, const std::vector<PlanLine>& plan) {
  const std::vector<std::string> found = Matches(out, prefix, plan);
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
void AddChanges(const PlanLine& line, const TrialSpec& spec, std::vector<std::string>* warnings) {
  for (const auto& [key, file] : {std::pair("env.plugin", spec.env.file), std::pair("learner.plugin", spec.learner.file)}) {
    const auto then = line.files.find(key);
    if (then != line.files.end() && then->second != Sha256OfFile(file))
      warnings->push_back(fmt::format("{} has changed since the trial ran: {}", key, file.string()));
  }
}

OneTrial Open(const std::filesystem::path& out, const std::string& id, const std::vector<PlanLine>& plan) {
  OneTrial trial;
  trial.id = id;
  trial.folder = ResultsFolder{std::filesystem::absolute(out)}.trial(id);
  trial.spec = ReadTrialSpec(trial.folder.trial_json());
  const PlanLine* line = LineOf(plan, id);
  trial.name = line ? DisplayName(*line, HasSeveralSeeds(plan)) : id;
  if (line) AddChanges(*line, trial.spec, &trial.warnings);
  return trial;
}

}  // namespace

OneTrial OpenTrial(const std::filesystem::path& out, const std::string& name) {
  const std::vector<PlanLine> plan = PlanOf(out);
  return Open(out, FindTrial(out, name, plan), plan);
}

std::vector<OneTrial> OpenTrials(const std::filesystem::path& out, const std::vector<std::string>& names) {
  const std::vector<PlanLine> plan = PlanOf(out);
  std::vector<std::string> ids;
  for (const std::string& name : names)
    for (const std::string& id : Matches(out, name, plan)) ids.push_back(id);
  if (names.empty())
    for (const PlanLine& line : plan)
      if (!line.dropped) ids.push_back(line.trial_id);
  if (ids.empty()) ids = Matches(out, "", plan);
  std::vector<OneTrial> trials;
  for (const std::string& id : ids)
    if (std::ranges::none_of(trials, [&](const OneTrial& trial) { return trial.id == id; }))
      trials.push_back(Open(out, id, plan));
  return trials;
}

}  // namespace backplane
