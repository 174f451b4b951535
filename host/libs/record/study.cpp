#include "record/study.hpp"

#include <algorithm>
#include <cmath>

#include "record/search_messages.hpp"

namespace backplane {
namespace {

// Adds the trials of a suggestion from the plan and the events.
void AddTrials(const std::vector<PlanLine>& plan, const BatchRecord& record, StudyTrial* of) {
  if (of->point_id.empty()) return;
  for (const PlanLine& line : plan) {
    if (line.dropped || line.point_id != of->point_id) continue;
    if (line.confirms) {
      of->confirming.push_back(line.trial_id);
      continue;
    }
    of->trials.push_back(line.trial_id);
    of->seeds.push_back(line.seed);
    of->point = line.name;
    const TrialRecord* known = record.Find(line.trial_id);
    if (!known) continue;
    if (known->state == TrialState::kRunning && of->state == StudyState::kWaiting) of->state = StudyState::kRunning;
    if (of->why.empty() && !IsFinished(known->state)) of->why = known->why;
    for (const AttemptRecord& attempt : known->attempts)
      if (of->started == 0 || attempt.started < of->started) of->started = attempt.started;
  }
}

bool AllCompleted(const StudyTrial& of, const BatchRecord& record) {
  const auto completed = [&](const std::string& id) {
    const TrialRecord* known = record.Find(id);
    return known != nullptr && known->state == TrialState::kCompleted;
  };
  return !of.trials.empty() && std::all_of(of.trials.begin(), of.trials.end(), completed);
}

StudyState StateOf(const std::string& told) {
  return told == "complete" ? StudyState::kComplete
         : told == "pruned" ? StudyState::kPruned
         : told.empty()     ? StudyState::kWaiting
                            : StudyState::kFailed;
}

// Sorts options like the experiment file, which determines the order of a point's values in names and live tables; the events
// have them sorted by name.
void OrderAsInPlan(const std::vector<PlanLine>& plan, std::vector<SearchedOption>* space) {
  std::map<std::string, size_t> place;
  for (const PlanLine& line : plan)
    for (const auto& [path, value] : line.values) place.try_emplace(path, place.size());
  const auto place_of = [&](const SearchedOption& option) {
    const auto found = place.find(option.path);
    return found != place.end() ? found->second : place.size();
  };
  std::stable_sort(space->begin(), space->end(),
                   [&](const SearchedOption& a, const SearchedOption& b) { return place_of(a) < place_of(b); });
}

}  // namespace

const StudyTrial* Study::Best() const {
  const StudyTrial* best = nullptr;
  for (const StudyTrial& trial : trials)
    if (trial.state == StudyState::kComplete && (!best || IsBetter(*trial.value, *best->value))) best = &trial;
  return best;
}

size_t Study::Count(StudyState state) const {
  return static_cast<size_t>(std::count_if(trials.begin(), trials.end(), [&](const auto& one) { return one.state == state; }));
}

size_t Study::CountPrunedAtEnd() const {
  return static_cast<size_t>(std::count_if(trials.begin(), trials.end(), [](const auto& one) { return one.came_to_end; }));
}

std::string PrunedText(const Study& study) {
  const size_t at_end = study.CountPrunedAtEnd();
  std::string text = std::to_string(study.Count(StudyState::kPruned)) + " pruned";
  if (at_end > 0) text += ", of which " + std::to_string(at_end) + (at_end == 1 ? " ran to its end" : " ran to their end");
  return text;
}

std::optional<Study> StudyOfSearch(const std::vector<PlanLine>& plan, const BatchRecord& record) {
  if (!record.search.open.is_object()) return std::nullopt;
  const auto open = ReadTolerantly<SearchOpening>(record.search.open);
  Study study{open.name, open.method, open.metric, open.maximize(), ReadSearchSpace(open.space), {}};
  OrderAsInPlan(plan, &study.space);
  for (const auto& [number, suggestion] : record.search.suggestions) {
    StudyTrial trial;
    trial.number = number;
    trial.point_id = suggestion.point_id;
    trial.params = suggestion.params;
    trial.state = StateOf(suggestion.state);
    trial.started = suggestion.asked;
    trial.ended = suggestion.told;
    for (const auto& [step, value] : suggestion.values)
      if (std::isfinite(value)) trial.steps.emplace_back(step, value);
    if (trial.state == StudyState::kComplete) {
      trial.value = suggestion.value;
      if (!trial.value || !std::isfinite(*trial.value)) trial.state = StudyState::kFailed, trial.value.reset();
    }
    AddTrials(plan, record, &trial);
    trial.came_to_end = trial.state == StudyState::kPruned && AllCompleted(trial, record);
    if (trial.point_id.empty() && trial.state == StudyState::kFailed) trial.why = "left out by the experiment file's `where`";
    if (trial.state != StudyState::kFailed) trial.why.clear();
    study.trials.push_back(std::move(trial));
  }
  return study;
}

}  // namespace backplane
