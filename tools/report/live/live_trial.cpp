#include "live/live_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinds/resource_figures.hpp"
#include "record/attempt_json.hpp"
#include "record/metric_series.hpp"

namespace backplane {
namespace {

constexpr size_t kMostCurves = 24;

}  // namespace

void LiveTrial::Begin(unsigned attempt) {
  const AttemptFolder files = folder_.attempt(attempt);
  metrics_ = LineTail(files.metrics());
  resources_ = LineTail(files.resources());
  resource_rows_ = {};
  attempt_ = attempt;
  ForgetJson();
}

void LiveTrial::ForgetJson() {
  json_.clear();
  phases_json_ = {};
}

size_t LiveTrial::Read(unsigned attempt, size_t most_bytes) {
  if (attempt != attempt_) Begin(attempt);
  if (metrics_.IsAnew() || resources_.IsAnew()) {
    Begin(attempt);
    curves_.clear();
    phases_ = {};
  }
  size_t bytes = metrics_.Read(most_bytes, [&](const std::string& text) {
    const nlohmann::json line = ParseAttemptJson(text);
    if (line.is_object()) AddIteration(ReadTolerantly<Iteration>(line));
  });
  bytes += resources_.Read(most_bytes, [&](const std::string& text) { AddResources(text); });
  if (bytes > 0) ForgetJson();
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
  if (line.time.t) phases_.Add(*line.time.t, line.time.phases);
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
  for (const ResourceChart& chart : kResourceCharts) {
    const std::optional<double> value = column(resource_measure::ColumnOf(chart.measure));
    if (time_s && value) curves_[chart.measure].Add(*time_s, *value);
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

const std::string& LiveTrial::PhasesJson(const std::vector<Phase>& phases) {
  auto& [known, text] = phases_json_;
  if (!text.empty() && known == phases) return text;
  known = phases;
  std::string steps, shares;
  for (const PhaseBands::Stretch& stretch : phases_.stretches())
    fmt::format_to(std::back_inserter(steps), "{}{:.4g}", steps.empty() ? "" : ",", stretch.end_s - stretch.begin_s);
  for (size_t i = 0; i < phases.size(); ++i) {
    std::string values;
    bool any = false;
    for (const PhaseBands::Stretch& stretch : phases_.stretches()) {
      const auto thousandths = std::lround(1000 * stretch.ShareOf(phases[i]));
      any |= thousandths > 0;
      fmt::format_to(std::back_inserter(values), "{}{}", values.empty() ? "" : ",", thousandths);
    }
    if (any) fmt::format_to(std::back_inserter(shares), "{}\"{}\":[{}]", shares.empty() ? "" : ",", i, values);
  }
  return text = "[[" + steps + "],{" + shares + "}]";
}

}  // namespace backplane
