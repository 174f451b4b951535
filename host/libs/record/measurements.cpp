#include "record/measurements.hpp"

#include <cmath>

#include "base/json_text.hpp"
#include "machine/resource_measures.hpp"
#include "record/attempt_json.hpp"
#include "record/metric_series.hpp"

namespace backplane {
namespace {

void AddMeasured(const std::string& prefix, const EpisodeMeans& measured, std::map<std::string, Spread>* out) {
  if (measured.episode_return) out->emplace(NameUnder(prefix, "return"), *measured.episode_return);
  for (const auto& [name, spread] : measured.metrics) out->emplace(NameUnder(prefix, name), spread);
}

std::vector<std::pair<std::string, double>> TimeMeasures(const TrialResult& result) {
  std::vector<std::pair<std::string, double>> found;
  for (const auto& [group, row] : result.time) {
    found.emplace_back("time/" + group + "_pct", 100 * row.share);
    found.emplace_back("time/" + group + "_s", row.seconds);
    if (row.cpu_use && !std::isnan(*row.cpu_use)) found.emplace_back("time/" + group + "_cpu_pct", 100 * *row.cpu_use);
    if (!row.machine) continue;
    const auto gpu = row.machine->find(resource_measure::kGpuUtilPct);
    if (gpu != row.machine->end() && !std::isnan(gpu->second)) found.emplace_back("time/" + group + "_gpu_pct", gpu->second);
  }
  if (result.control_unnamed_share) found.emplace_back("time/unnamed_control_pct", 100 * *result.control_unnamed_share);
  return found;
}

std::vector<std::string> Facts(const TrialResult& result) {
  std::vector<std::string> lines;
  for (const auto& [plugin, decided] : result.facts) {
    for (const auto& [name, value] : decided) {
      lines.push_back(plugin + " " + name + " " + (value.is_string() ? value.get<std::string>() : JsonText(value)));
    }
  }
  return lines;
}

}  // namespace

Measurements ReadMeasurements(const AttemptFolder& attempt) { return MeasurementsOf(ReadResult(attempt)); }

Measurements MeasurementsOf(TrialResult of) {
  Measurements found;
  const TrialResult& result = found.result = std::move(of);
  found.time = TimeMeasures(result);
  found.facts = Facts(result);
  AddMeasured("", result.training, &found.statistics);
  for (const auto& [prefix, measured] : {std::pair("eval/", &result.evaluation), std::pair("floor_zero/", &result.floor_zero),
                                         std::pair("floor_uniform/", &result.floor_uniform)}) {
    if (*measured) AddMeasured(prefix, **measured, &found.statistics);
  }
  return found;
}

std::vector<IterationValue> ReadIterations(const AttemptFolder& attempt) {
  std::vector<IterationValue> values;
  ForEachIteration(attempt.metrics(), [&](const Iteration& line) {
    if (!line.iteration) return;
    for (MetricValue& one : MetricSeries(line)) values.push_back({*line.iteration, std::move(one.name), one.value});
  });
  return values;
}

}  // namespace backplane
