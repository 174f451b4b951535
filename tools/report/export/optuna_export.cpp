#include "export/optuna_export.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.hpp"
#include "record/fields.hpp"
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

// Common fields of all journal lines.
struct Head {
  Step step = Step::kCreateTrial;

  static void Fields(auto& self, auto&& visit) {
    visit("op_code", static_cast<int>(self.step));
    visit("worker_id", std::string(kWriter));
  }
};

std::string Line(Step step, json line) {
  Overwrite(Head{step}, &line);
  return JsonText(line) + "\n";
}

// Attributes that Optuna stores but does not use.
struct UserAttributes {
  std::string state, point, why;
  std::vector<uint64_t> seeds;
  std::vector<std::string> trials;
  std::vector<double> values_of_fresh_seeds;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("seeds", self.seeds);
    visit("trials", self.trials);
    visit("point", LeftOutIfEmpty(self.point));
    visit("why", LeftOutIfEmpty(self.why));
    visit("values_of_fresh_seeds", LeftOutIfEmpty(self.values_of_fresh_seeds));
  }
};

struct TrialLine {
  uint64_t study_id = 0;
  int state = 0;
  std::optional<std::string> started, completed;
  std::optional<double> value;
  std::map<std::string, std::string> distributions;  // as JSON in a text
  std::map<std::string, json> params;
  std::map<std::string, double> intermediate_values;  // by step
  std::map<std::string, json> system;
  UserAttributes user;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("study_id", self.study_id);
    visit("state", self.state);
    visit("datetime_start", NullIfAbsent(self.started));
    visit("datetime_complete", self.completed);
    visit("value", self.value);
    visit("distributions", self.distributions);
    visit("params", self.params);
    visit("intermediate_values", self.intermediate_values);
    visit("system_attrs", self.system);
    visit("user_attrs", self.user);
  }
};

// Local time without a zone, as Optuna writes it.
std::string TimeText(double t) {
  const auto microseconds = static_cast<int64_t>(std::llround(t * 1e6));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}", fmt::localtime(static_cast<time_t>(microseconds / 1000000)),
                     microseconds % 1000000);
}

// Optuna's choices are null, booleans, numbers and texts; a mapping becomes its JSON text.
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

// As Optuna stores it: a choice by its index. Absent: not a value of the option.
std::optional<json> InternalOf(const SearchedOption& option, const json& value) {
  if (!option.is_choice()) return value.is_number() ? std::optional(json(value.get<double>())) : std::nullopt;
  const auto found = std::find(option.choices.begin(), option.choices.end(), value);
  if (found == option.choices.end()) return std::nullopt;
  return json(found - option.choices.begin());
}

// The metric of the trials with fresh seeds.
std::vector<double> ConfirmedOf(const Study& study, const StudyTrial& trial, const ResultsFolder& folder,
                                const BatchRecord& record) {
  std::vector<double> values;
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
  TrialLine line;
  line.state = TrialStateOf(trial.state);
  if (trial.started > 0) line.started = TimeText(trial.started);
  if (trial.ended) line.completed = TimeText(*trial.ended);
  const bool has_value = trial.state == StudyState::kComplete || trial.state == StudyState::kPruned;
  if (has_value) line.value = trial.Latest();
  json external = json::object();
  for (const SearchedOption& option : study.space) {
    const auto found = trial.params.find(option.path);
    const std::optional<json> value = found != trial.params.end() ? InternalOf(option, *found) : std::nullopt;
    if (!value) continue;
    external[option.path] = ChoiceOf(*found);
    line.distributions[option.path] = JsonText(DistributionOf(option));
    line.params[option.path] = *value;
  }
  if (trial.state == StudyState::kWaiting) {  // as enqueue_trial leaves it
    line.params.clear(), line.distributions.clear();
    line.system.emplace("fixed_params", external);
  }
  for (const auto& [step, value] : trial.steps) line.intermediate_values[std::to_string(step)] = value;
  line.user = {Word(trial.state), trial.point, trial.why, trial.seeds, trial.trials, ConfirmedOf(study, trial, folder, record)};
  return Line(Step::kCreateTrial, ToJson(line));
}

}  // namespace

std::string FormatOptunaJournal(const Study& study, const ResultsFolder& folder, const BatchRecord& record) {
  std::string text = Line(Step::kCreateStudy, json{{"study_name", study.name},
                                                   {"directions", json::array({study.maximize ? kMaximize : kMinimize})}});
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
