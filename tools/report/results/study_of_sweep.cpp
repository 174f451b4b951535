#include "results/study_of_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "record/budget_cut.hpp"
#include "record/finite_tail.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr double kSpanOfLog = 100;  // draw wider ranges on a logarithmic axis

// The values of a metric in one trial.
struct Scored {
  std::optional<double> value;
  std::map<uint64_t, double> by_iteration;
  std::optional<int> direction;  // registered by a plugin
};

bool IsKnown(const std::map<std::string, Spread>& statistics, const std::string& metric) {
  const auto found = statistics.find(metric);
  return found != statistics.end() && found->second.mean && std::isfinite(*found->second.mean);
}

Scored ScoreOf(const ResultsFolder& folder, const WithinBudget& within, const std::string& metric) {
  const TrialRecord& trial = within.record;
  Scored scored;
  if (trial.attempts.empty()) return scored;
  // Include the attempts from which the last one resumed.
  size_t first = trial.attempts.size() - 1;
  while (first > 0 && trial.attempts[first].start.resumed) --first;
  for (size_t i = first; i < trial.attempts.size(); ++i)
    for (const IterationValue& one : ReadIterations(folder.attempt(trial.id, trial.attempts[i].number), within.cut))
      if (one.name == metric) scored.by_iteration[one.iteration] = one.value;
  LastFinite last;
  for (const auto& [iteration, value] : scored.by_iteration) last.Add(value);
  std::erase_if(scored.by_iteration, [](const auto& one) { return !std::isfinite(one.second); });
  const Measurements found = ReadMeasurements(folder.attempt(trial.id, trial.attempts.back().number), within.cut);
  if (IsKnown(found.statistics, metric))
    scored.value = found.statistics.at(metric).mean;
  else if (!found.statistics.contains(metric) || !found.statistics.at(metric).mean)
    scored.value = last.value();
  if (scored.value && !std::isfinite(*scored.value)) scored.value.reset();
  if (const auto said = found.result.measures.find(metric); said != found.result.measures.end())
    scored.direction = said->second.direction;
  return scored;
}

bool IsEvaluated(const ResultsFolder& folder, const BatchRecord& record) {
  return std::any_of(record.trials.begin(), record.trials.end(), [&](const auto& one) {
    const TrialRecord& trial = one.second;
    return !trial.attempts.empty() &&
           IsKnown(ReadMeasurements(folder.attempt(trial.id, trial.attempts.back().number)).statistics, "eval/return");
  });
}

StudyState StateOfSeeds(const std::vector<TrialState>& states) {
  const auto any = [&](auto is) { return std::any_of(states.begin(), states.end(), is); };
  if (any([](TrialState state) { return state == TrialState::kRunning; })) return StudyState::kRunning;
  if (any([](TrialState state) { return !IsFinal(state); })) return StudyState::kWaiting;
  if (any([](TrialState state) { return !IsFinished(state); })) return StudyState::kFailed;
  return any([](TrialState state) { return state == TrialState::kPruned; }) ? StudyState::kPruned : StudyState::kComplete;
}

double MeanValue(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Means over the iterations common to all seeds.
std::vector<std::pair<uint64_t, double>> StepsOf(const std::vector<Scored>& seeds) {
  std::vector<std::pair<uint64_t, double>> steps;
  for (const auto& [iteration, first] : seeds.front().by_iteration) {
    std::vector<double> values;
    for (const Scored& seed : seeds)
      if (const auto found = seed.by_iteration.find(iteration); found != seed.by_iteration.end())
        values.push_back(found->second);
    if (values.size() == seeds.size()) steps.emplace_back(iteration, MeanValue(values));
  }
  return steps;
}

// The range of the existing values.
std::vector<SearchedOption> SpaceOf(const std::vector<StudyTrial>& trials) {
  std::map<std::string, std::vector<json>> values;
  for (const StudyTrial& trial : trials)
    for (const auto& [path, value] : trial.params.items())
      if (auto& known = values[path]; std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
  std::vector<SearchedOption> space;
  for (auto& [path, known] : values) {
    SearchedOption option;
    option.path = path;
    const auto all = [&known](auto is) { return std::all_of(known.begin(), known.end(), is); };
    if (all([](const json& value) { return value.is_number(); })) {
      const auto [least, most] = std::minmax_element(known.begin(), known.end());
      option.low = least->get<double>();
      option.high = most->get<double>();
      option.whole = all([](const json& value) { return value.is_number_integer(); });
      option.log = option.low > 0 && option.high / option.low >= kSpanOfLog;
    } else {
      option.choices = std::move(known);
    }
    space.push_back(std::move(option));
  }
  return space;
}

// The results of a configuration, by seed.
struct ConfigurationResults {
  std::vector<Scored> scores;
  std::vector<TrialState> states;
};

StudyTrial NewTrial(const PlanLine& line, size_t number) {
  StudyTrial trial;
  trial.number = number;
  trial.point_id = line.point_id;
  trial.point = line.name;
  trial.params = json::object();
  for (const auto& [path, value] : line.values) trial.params[path] = value;
  return trial;
}

void AddTimes(const TrialRecord& record, StudyTrial* trial) {
  if (trial->why.empty() && !IsFinished(record.state)) trial->why = record.why;
  if (trial->started == 0) trial->started = record.attempts.front().started;
  if (record.attempts.back().ended) trial->ended = std::max(trial->ended.value_or(0), *record.attempts.back().ended);
}

// A configuration is a trial of the study.
std::vector<ConfigurationResults> AddConfigurations(const ResultsFolder& folder, const std::vector<PlanLine>& plan,
                                                    const BatchRecord& record, Study* study) {
  std::map<std::string, size_t> place;
  std::vector<ConfigurationResults> results;
  for (const PlanLine& line : plan) {
    if (line.dropped || line.confirms) continue;
    const auto [found, added] = place.try_emplace(line.point_id, study->trials.size());
    if (added) {
      study->trials.push_back(NewTrial(line, study->trials.size()));
      results.emplace_back();
    }
    StudyTrial& trial = study->trials[found->second];
    ConfigurationResults& result = results[found->second];
    trial.trials.push_back(line.trial_id);
    trial.seeds.push_back(line.seed);
    const TrialRecord* known = record.Find(line.trial_id);
    result.states.push_back(known ? known->state : TrialState::kPlanned);
    result.scores.push_back(known ? ScoreOf(folder, CutAtBudget(folder, *known, line.budget), study->metric) : Scored{});
    if (!known || known->attempts.empty()) continue;
    AddTimes(*known, &trial);
    for (const Scored& scored : result.scores)
      if (scored.direction && *scored.direction != 0) study->maximize = *scored.direction > 0;
  }
  return results;
}

void Conclude(const ConfigurationResults& results, const std::string& metric, StudyTrial* trial) {
  trial->state = StateOfSeeds(results.states);
  trial->steps = StepsOf(results.scores);
  if (trial->state == StudyState::kRunning || trial->state == StudyState::kWaiting) trial->ended.reset();
  if (trial->state != StudyState::kComplete) return;
  std::vector<double> values;
  for (const Scored& one : results.scores)
    if (one.value) values.push_back(*one.value);
  if (values.size() == results.scores.size())
    trial->value = MeanValue(values);
  else
    trial->state = StudyState::kFailed, trial->why = "it has no " + metric;
}

}  // namespace

Study StudyOfSweep(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record,
                   const std::string& metric, std::optional<bool> maximize) {
  Study study;
  study.metric = !metric.empty() ? metric : IsEvaluated(folder, record) ? "eval/return" : "return";
  const std::vector<ConfigurationResults> results = AddConfigurations(folder, plan, record, &study);
  if (maximize) study.maximize = *maximize;
  for (size_t i = 0; i < study.trials.size(); ++i) Conclude(results[i], study.metric, &study.trials[i]);
  study.space = SpaceOf(study.trials);
  return study;
}

}  // namespace backplane
