#include "store/optuna_export.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.hpp"
#include "record/measurements.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// optuna/storages/journal/_storage.py, JournalOperation
enum class Step { kCreateStudy = 0, kStudyUserAttr = 2, kStudySystemAttr = 3, kCreateTrial = 4 };
constexpr char kWriter[] = "backplane";
constexpr int kMinimize = 1, kMaximize = 2;  // optuna.study.StudyDirection

int TrialStateOf(StudyState state) {  // optuna.trial.TrialState
  switch (state) {
    case StudyState::kRunning: return 0;
    case StudyState::kComplete: return 1;
    case StudyState::kPruned: return 2;
    case StudyState::kFailed: return 3;
    default: return 4;
  }
}

std::string Line(Step step, json content) {
  content["op_code"] = static_cast<int>(step);
  content["worker_id"] = kWriter;
  return JsonText(content) + "\n";
}

// Local time without a zone, as Optuna writes it.
std::string TimeText(double t) {
  const auto microseconds = static_cast<int64_t>(std::llround(t * 1e6));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}", fmt::localtime(static_cast<time_t>(microseconds / 1000000)),
                     microseconds % 1000000);
}

// Optuna's choices are null, true, numbers and texts; a mapping stands as its JSON.
json ChoiceOf(const json& value) { return value.is_structured() ? json(JsonText(value)) : value; }

json DistributionOf(const SearchedOption& option) {
  if (option.is_choice()) {
    json choices = json::array();
    for (const json& choice : option.choices) choices.push_back(ChoiceOf(choice));
    return {{"name", "CategoricalDistribution"}, {"attributes", {{"choices", choices}}}};
  }
  if (option.whole)
    return {{"name", "IntDistribution"},
            {"attributes",
             {{"low", static_cast<int64_t>(option.low)},
              {"high", static_cast<int64_t>(option.high)},
              {"step", option.log ? 1 : static_cast<int64_t>(option.step.value_or(1))},
              {"log", option.log}}}};
  return {{"name", "FloatDistribution"},
          {"attributes",
           {{"low", option.low},
            {"high", option.high},
            {"step", option.step && !option.log ? json(*option.step) : json()},
            {"log", option.log}}}};
}

// As Optuna keeps it: of a choice its index. Absent: it is no value of the option.
std::optional<json> InternalOf(const SearchedOption& option, const json& value) {
  if (!option.is_choice()) return value.is_number() ? std::optional(json(value.get<double>())) : std::nullopt;
  const auto found = std::find(option.choices.begin(), option.choices.end(), value);
  if (found == option.choices.end()) return std::nullopt;
  return json(found - option.choices.begin());
}

// Of the trials with fresh seeds: seed and value.
json ConfirmedOf(const Study& study, const StudyTrial& trial, const ResultsFolder& folder, const BatchRecord& record) {
  json values = json::array();
  for (const std::string& id : trial.confirming) {
    const TrialRecord* known = record.Find(id);
    if (!known || known->attempts.empty() || !IsFinished(known->state)) continue;
    const Measurements found = ReadMeasurements(folder.attempt(id, known->attempts.back().number));
    const auto metric = found.statistics.find(study.metric);
    if (metric != found.statistics.end() && metric->second.mean && std::isfinite(*metric->second.mean))
      values.push_back(*metric->second.mean);
  }
  return values;
}

std::string LineOfTrial(const Study& study, const StudyTrial& trial, const ResultsFolder& folder, const BatchRecord& record) {
  json line = {{"study_id", 0},
               {"state", TrialStateOf(trial.state)},
               {"datetime_start", trial.started > 0 ? json(TimeText(trial.started)) : json()},
               {"distributions", json::object()},
               {"params", json::object()},
               {"intermediate_values", json::object()},
               {"system_attrs", json::object()}};
  json external = json::object();
  for (const SearchedOption& option : study.space) {
    const auto found = trial.params.find(option.path);
    const std::optional<json> value = found != trial.params.end() ? InternalOf(option, *found) : std::nullopt;
    if (!value) continue;
    external[option.path] = ChoiceOf(*found);
    line["distributions"][option.path] = JsonText(DistributionOf(option));
    line["params"][option.path] = *value;
  }
  if (trial.state == StudyState::kWaiting) {  // as enqueue_trial leaves it
    line["params"] = line["distributions"] = json::object();
    line["system_attrs"]["fixed_params"] = external;
  }
  if (trial.ended) line["datetime_complete"] = TimeText(*trial.ended);
  const bool has_value = trial.state == StudyState::kComplete || trial.state == StudyState::kPruned;
  if (has_value && trial.Latest()) line["value"] = *trial.Latest();
  for (const auto& [step, value] : trial.steps) line["intermediate_values"][std::to_string(step)] = value;
  json& ours = line["user_attrs"] = {{"state", Word(trial.state)}, {"seeds", trial.seeds}, {"trials", trial.trials}};
  if (!trial.point.empty()) ours["point"] = trial.point;
  if (!trial.why.empty()) ours["why"] = trial.why;
  if (json confirmed = ConfirmedOf(study, trial, folder, record); !confirmed.empty())
    ours["values_of_fresh_seeds"] = std::move(confirmed);
  return Line(Step::kCreateTrial, std::move(line));
}

}  // namespace

std::string FormatOptunaJournal(const Study& study, const ResultsFolder& folder, const BatchRecord& record) {
  std::string text = Line(Step::kCreateStudy,
                          {{"study_name", study.name}, {"directions", json::array({study.maximize ? kMaximize : kMinimize})}});
  const auto attribute = [&](Step step, const char* kind, json value) {
    text += Line(step, {{"study_id", 0}, {kind, std::move(value)}});
  };
  attribute(Step::kStudySystemAttr, "system_attr", {{"study:metric_names", json::array({study.metric})}});
  attribute(Step::kStudyUserAttr, "user_attr", {{"results", folder.out.string()}});
  attribute(Step::kStudyUserAttr, "user_attr", {{"method", study.method.empty() ? "sweep" : study.method}});
  for (const StudyTrial& trial : study.trials) text += LineOfTrial(study, trial, folder, record);
  return text;
}

}  // namespace backplane
