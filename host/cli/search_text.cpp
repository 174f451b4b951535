#include "cli/search_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/json_text.hpp"
#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/study.hpp"
#include "search/objective.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// With the seeds that the search did not see.
struct Confirmed {
  std::vector<double> values;  // of runs with a finite score
  size_t seeds = 0;            // all

  // A setting one of whose runs diverged, failed or is missing is never the surest.
  bool is_eligible() const { return !values.empty() && values.size() == seeds; }

  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
};

std::map<std::string, Confirmed> ConfirmedPoints(const Plan& plan, const ResultsFolder& folder, const BatchRecord& record) {
  std::map<std::string, Confirmed> points;
  for (const PlannedTrial& trial : plan.trials) {
    if (!trial.confirms) continue;
    Confirmed& point = points[plan.points[trial.point].id];
    ++point.seeds;
    const TrialRecord* known = record.Find(trial.id);
    if (!known || !IsFinished(known->state)) continue;
    const TrialFolder at = folder.trial(trial.id);
    if (const auto value = ObjectiveOf(at.attempt(at.LastAttempt()), plan.search->metric)) point.values.push_back(*value);
  }
  return points;
}

// In the order of the experiment file.
std::string ValuesText(const Study& study, const json& params) {
  std::string text;
  for (const SearchedOption& option : study.space) {
    const auto value = params.find(option.path);
    if (value == params.end()) continue;
    text += fmt::format("    {}: {}\n", option.path,
                        value->is_number_float() ? fmt::format("{:.6g}", value->get<double>()) : JsonText(*value));
  }
  return text;
}

// The objective of a trial that was pruned too late to stop it. Absent: it was stopped, or is no such trial.
std::optional<double> ScoreAtEnd(const Study& study, uint64_t number, const Plan& plan, const ResultsFolder& folder) {
  const auto trial = std::ranges::find(study.trials, number, &StudyTrial::number);
  if (trial == study.trials.end() || !trial->came_to_end) return std::nullopt;
  const TrialFolder at = folder.trial(trial->trials.front());
  return ObjectiveOf(at.attempt(at.LastAttempt()), plan.search->metric);
}

}  // namespace

std::string SearchText(const Plan& plan, const std::filesystem::path& out) {
  const ResultsFolder folder{out};
  const BatchRecord record = ReadBatchRecord(folder.events());
  const SearchRecord& known = record.search;
  const std::optional<Study> study = StudyOfSearch(ReadPlanFile(folder.plan()), record);
  if (!study || known.suggestions.empty()) return "";
  size_t complete = 0, failed = 0, pruned = 0, open = 0, none = 0;
  const std::map<std::string, Confirmed> confirmed = ConfirmedPoints(plan, folder, record);
  const auto confirmed_at = [&](const Suggestion& one) {
    const auto found = confirmed.find(one.point_id);
    return found != confirmed.end() && found->second.is_eligible() ? std::optional(found->second.mean()) : std::nullopt;
  };
  const Suggestion *best = nullptr, *surest = nullptr;
  uint64_t best_number = 0, surest_number = 0;
  double best_value = 0;
  for (const auto& [number, one] : known.suggestions) {
    const bool is_complete = one.state == "complete";
    ++(one.point_id.empty() ? none : one.state.empty() ? open : is_complete ? complete : one.state == "fail" ? failed : pruned);
    const std::optional<double> value = is_complete ? one.value : ScoreAtEnd(*study, number, plan, folder);
    if (!value) continue;
    if (best == nullptr || study->IsBetter(*value, best_value)) best = &one, best_number = number, best_value = *value;
    const auto mean = one.value ? confirmed_at(one) : std::nullopt;
    if (mean && (surest == nullptr || study->IsBetter(*mean, *confirmed_at(*surest)))) surest = &one, surest_number = number;
  }
  const std::string& metric = plan.search->metric;
  std::string text = fmt::format("search: {} complete, {}, {} failed", complete, PrunedText(*study), failed);
  if (open > 0) text += fmt::format(", {} unfinished", open);
  if (none > 0) text += fmt::format(", {} without a valid point", none);
  text += "\n";
  if (best == nullptr) return text;
  text += fmt::format("  best {}: {:.6g}, number {}\n", metric, best_value, best_number);
  if (surest != nullptr) {
    const Confirmed& runs = confirmed.at(surest->point_id);
    text += fmt::format("  confirmed: {:.6g}, the mean of {} fresh seeds, number {}", runs.mean(), runs.values.size(),
                        surest_number);
    text += fmt::format(" ({:.6g} in the search)\n", *surest->value);
    best = surest;
  }
  return text + ValuesText(*study, best->params);
}

}  // namespace backplane
