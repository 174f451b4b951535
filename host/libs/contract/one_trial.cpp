#include "contract/one_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/sha256.hpp"
#include "record/find_trial.hpp"
#include "record/imported_runs.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

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
  const std::vector<PlanLine> plan = PlanLinesOf(out);
  return Open(out, FindTrial(out, name, plan), plan);
}

std::vector<OneTrial> OpenTrials(const std::filesystem::path& out, const std::vector<std::string>& names) {
  RejectImported(out);
  const std::vector<PlanLine> plan = PlanLinesOf(out);
  std::vector<std::string> ids;
  for (const std::string& name : names)
    for (const std::string& id : FindTrials(out, name, plan)) ids.push_back(id);
  if (names.empty())
    for (const PlanLine& line : plan)
      if (!line.dropped) ids.push_back(line.trial_id);
  if (ids.empty()) ids = FindTrials(out, "", plan);
  std::vector<OneTrial> trials;
  for (const std::string& id : ids)
    if (std::ranges::none_of(trials, [&](const OneTrial& trial) { return trial.id == id; }))
      trials.push_back(Open(out, id, plan));
  return trials;
}

}  // namespace backplane
