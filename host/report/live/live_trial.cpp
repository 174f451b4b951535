#include "live/live_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "machine/resource_measures.hpp"
#include "record/attempt_json.hpp"
#include "record/metric_series.hpp"

namespace backplane {
namespace {

constexpr size_t kMostCurves = 24;
constexpr std::array kResources = {resource_measure::kCpuQuotaPct, resource_measure::kRssMb, resource_measure::kGpuUtilPct,
                                   resource_measure::kVramUsedMb};

}  // namespace

void LiveTrial::Begin(unsigned attempt) {
  const AttemptFolder files = folder_.attempt(attempt);
  metrics_ = LineTail(files.metrics());
  resources_ = LineTail(files.resources());
  resource_rows_ = {};
  attempt_ = attempt;
  last_t_.reset();
  json_.clear();
}

size_t LiveTrial::Read(unsigned attempt, size_t most_bytes) {
  if (attempt != attempt_) Begin(attempt);
  if (metrics_.IsAnew() || resources_.IsAnew()) {
    Begin(attempt);
    curves_.clear();
  }
  size_t bytes = metrics_.Read(most_bytes, [&](const std::string& text) {
    const nlohmann::json line = ParseAttemptJson(text);
    if (line.is_object()) AddIteration(ReadTolerantly<Iteration>(line));
  });
  bytes += resources_.Read(most_bytes, [&](const std::string& text) { AddResources(text); });
  if (bytes > 0) json_.clear();
  return bytes;
}

void LiveTrial::AddIteration(const Iteration& line) {
  if (!line.iteration) return;
  iteration_ = line.iteration;
  const double step = line.step.value_or(0) > 0 ? static_cast<double>(*line.step) : static_cast<double>(*line.iteration);
  for (const MetricValue& one : MetricSeries(line)) {
    if (one.of == MetricValue::Of::kAxis || one.name == "episodes" || one.name == "iteration_s" || one.name == "sampling_sps" ||
        one.name.starts_with("rollout/") || one.name.starts_with(resource_measure::kPrefix))
      continue;
    const auto known = curves_.find(one.name);
    if (known == curves_.end() && curves_.size() >= kMostCurves) continue;
    (known == curves_.end() ? curves_[one.name] : known->second).Add(step, one.value);
  }
  AddPhases(line);
  last_step_ = step;
}

// Collecting is told by its own speed, and what is no iteration evaluates and saves; the rest is learning.
void LiveTrial::AddPhases(const Iteration& line) {
  const double collecting = line.time.sampling_sps.value_or(0), iteration_s = line.time.iteration_s.value_or(0);
  const double steps = static_cast<double>(line.step.value_or(0)) - last_step_;
  const std::optional<double> before = std::exchange(last_t_, line.time.t);
  if (!(collecting > 0) || !(iteration_s > 0) || !(steps > 0)) return;
  const double whole = before && line.time.t ? std::max(*line.time.t - *before, iteration_s) : iteration_s;
  const auto add = [&](const char* name, double seconds) {
    curves_[name].Add(static_cast<double>(*line.step), 100 * seconds / whole);
  };
  add(kCollectingPct, std::min(steps / collecting, iteration_s));
  const bool evaluates = curves_.contains(kEvaluatingPct) || whole > 1.01 * iteration_s;
  if (evaluates) add(kEvaluatingPct, whole - iteration_s);  // a page has no room for lines of nothing
}

void LiveTrial::AddResources(const std::string& line) {
  const auto row = resource_rows_.Next(line);
  if (!row) return;
  const std::vector<std::string>& columns = resource_rows_.columns();
  const auto column = [&](const char* name) {
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i] == name) return (*row)[i];
    return std::optional<double>();
  };
  const std::optional<double> time_s = column("time_s");
  for (const char* measure : kResources) {
    const std::optional<double> value = column(resource_measure::ColumnOf(measure));
    if (time_s && value) curves_[measure].Add(*time_s, *value);
  }
}

const std::string& LiveTrial::CurveJson(const std::string& name) {
  std::string& text = json_[name];
  const auto curve = curves_.find(name);
  if (!text.empty() || curve == curves_.end()) return text;
  std::string steps, values;
  double last = 0;
  for (const ThinSeries::Point& point : curve->second.Points()) {
    const char* between = steps.empty() ? "" : ",";
    fmt::format_to(std::back_inserter(steps), "{}{:.6g}", between, point.x - last);
    fmt::format_to(std::back_inserter(values), "{}{:.4g}", between, point.value);
    last = point.x;
  }
  return text = "[[" + steps + "],[" + values + "]]";
}

}  // namespace backplane
