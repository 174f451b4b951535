#include "search/objective.hpp"

#include <cmath>
#include <fstream>
#include <set>

#include "base/files.hpp"
#include "record/attempt_json.hpp"
#include "record/finite_tail.hpp"
#include "record/goal.hpp"
#include "record/measurements.hpp"
#include "record/metric_series.hpp"

namespace backplane {
namespace {

std::optional<double> Finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> ValueIn(const Iteration& line, const std::string& metric) {
  for (const MetricValue& one : MetricSeries(line))
    if (one.name == metric) return one.value;
  return std::nullopt;
}

// Absent: the trial never recorded the metric.
std::optional<double> StepsTo(const Goal& goal, const TrialFolder& trial, const TrialResult& result) {
  GoalCount count(goal);
  std::optional<uint64_t> steps;
  bool any = false;
  const auto add = [&](const std::optional<double>& value, uint64_t at) {
    any = any || value;
    if (!steps && value && count.Add(*value)) steps = at;
  };
  ForEachIteration(trial, result.metrics_parts.value_or(std::vector<MetricsPart>()),
                   [&](const Iteration& line) { add(ValueIn(line, goal.metric), line.step.value_or(0)); });
  if (result.evaluation && result.evaluated_at == result.iterations) {
    Iteration last;  // may have no line
    last.eval = result.evaluation;
    add(ValueIn(last, goal.metric), result.env_steps.value_or(0));
  }
  if (!steps) steps = result.env_steps;
  return any && steps ? std::optional(static_cast<double>(*steps)) : std::nullopt;
}

}  // namespace

std::optional<double> ObjectiveOf(const AttemptFolder& attempt, const std::string& metric) {
  const Measurements found = ReadMeasurements(attempt);
  if (std::optional<Goal> goal = GoalOfMeasure(metric)) {
    const std::optional<GoalResult>& until = found.result.until;
    if (until && until->metric == goal->metric) goal->in_a_row = until->in_a_row, goal->direction = until->direction;
    return StepsTo(*goal, {attempt.folder.parent_path()}, found.result);
  }
  const auto spread = found.statistics.find(metric);
  if (spread != found.statistics.end() && spread->second.mean) return Finite(spread->second.mean);
  if (metric == "SPS") return Finite(found.result.sps);
  LastFinite last;
  ForEachIteration(attempt.metrics(), [&](const Iteration& line) {
    if (const auto value = ValueIn(line, metric)) last.Add(*value);
  });
  return Finite(last.value());
}

std::vector<std::string> RecordedMetrics(const AttemptFolder& attempt) {
  std::set<std::string> names;
  const Measurements found = ReadMeasurements(attempt);
  for (const auto& [name, spread] : found.statistics) names.insert(name);
  if (found.result.sps) names.insert("SPS");
  ForEachIteration(attempt.metrics(), [&](const Iteration& line) {
    for (const MetricValue& one : MetricSeries(line)) names.insert(one.name);
  });
  return {names.begin(), names.end()};
}

void MetricFollower::Read(const std::function<bool(uint64_t, double)>& use) {
  while (!enough_) {
    // Tested first: an attempt with a successor writes no more values.
    const bool has_next = std::filesystem::exists(trial_.attempt(attempt_ + 1).folder);
    enough_ = !ReadAttempt(trial_.attempt(attempt_).metrics(), use);
    if (enough_ || !has_next) return;
    ++attempt_;
    offset_ = 0;
  }
}

bool MetricFollower::ReadAttempt(const std::filesystem::path& metrics, const std::function<bool(uint64_t, double)>& use) {
  std::ifstream stream = OpenStream(metrics);
  if (!stream) return true;
  stream.seekg(static_cast<std::streamoff>(offset_));
  for (std::string text; std::getline(stream, text) && !stream.eof();) {
    offset_ += text.size() + 1;
    const nlohmann::json json = ParseAttemptJson(text);
    if (!json.is_object()) continue;
    const Iteration line = ReadTolerantly<Iteration>(json);
    const std::optional<double> value = Finite(ValueIn(line, metric_));
    if (!line.iteration || !value || *line.iteration <= last_step_) continue;
    last_step_ = *line.iteration;
    if (!use(last_step_, *value)) return false;
  }
  return true;
}

}  // namespace backplane
