#include "store/measurements.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "machine/resource_measures.hpp"
#include "store/attempt_json.hpp"
#include "store/metric_series.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// JSON has no word for NaN: a null where samples were taken stands for it.
std::optional<double> OfSamples(const json& value, const std::optional<double>& n, double at_least) {
  return value.is_null() && n.value_or(0) >= at_least ? std::optional(std::nan("")) : NumberOf(value);
}

void AddStatistic(const std::string& name, const json& value, std::vector<Statistic>* out) {
  if (value.is_number()) {
    out->push_back({name, value.get<double>(), std::nullopt, std::nullopt, std::nullopt});
  } else if (value.is_object()) {
    const std::optional<double> n = NumberOf(At(value, "n"));
    out->push_back(
        {name, OfSamples(At(value, "mean"), n, 1), OfSamples(At(value, "sd"), n, 2), OfSamples(At(value, "se"), n, 2), n});
  }
}

void AddMeasured(const std::string& prefix, const json& measured, std::vector<Statistic>* out) {
  AddStatistic(NameUnder(prefix, "return"), At(measured, "return"), out);
  for (const auto& [name, value] : At(measured, "metrics").items()) {
    AddStatistic(NameUnder(prefix, name), value, out);
  }
}

std::vector<std::pair<std::string, double>> PhaseShares(const json& phases) {
  std::vector<std::pair<std::string, double>> shares;
  for (const json& phase : phases.is_array() ? phases : json::array()) {
    if (const std::optional<double> share = NumberOf(At(phase, "share"))) {
      shares.emplace_back(Text(At(phase, "name")), *share);
    }
  }
  return shares;
}

std::vector<std::pair<std::string, double>> TimeMeasures(const json& groups) {
  std::vector<std::pair<std::string, double>> found;
  for (const auto& [group, row] : groups.items()) {
    const auto add = [&, &group = group](const char* what, const json& value, double factor) {
      if (const std::optional<double> number = NumberOf(value)) found.emplace_back("time/" + group + what, factor * *number);
    };
    add("_pct", At(row, "share"), 100);
    add("_s", At(row, "seconds"), 1);
    add("_cpu_pct", At(row, "cpu_use"), 100);
    add("_gpu_pct", At(At(row, "machine"), resource_measure::kGpuUtilPct), 1);
  }
  return found;
}

std::vector<RegisteredMeasure> Registered(const json& measures) {
  std::vector<RegisteredMeasure> found;
  for (const auto& [name, said] : measures.items()) {
    const double direction = NumberOf(At(said, "direction")).value_or(0);
    found.push_back({name, Text(At(said, "unit")), direction > 0 ? 1 : direction < 0 ? -1 : 0});
  }
  return found;
}

std::vector<std::string> Facts(const json& facts) {
  std::vector<std::string> lines;
  for (const auto& [plugin, decided] : facts.items()) {
    for (const auto& [name, value] : decided.items()) {
      lines.push_back(plugin + " " + name + " " + (value.is_string() ? value.get<std::string>() : JsonText(value)));
    }
  }
  return lines;
}

}  // namespace

Measurements ReadMeasurements(const std::filesystem::path& attempt_dir) {
  const json result = ParseAttemptJson(ReadResultText(attempt_dir / "result.json").text.value_or(""));
  Measurements found;
  found.wall_s = NumberOf(At(result, "wall_s"));
  found.sps = NumberOf(At(result, "sps"));
  found.sampling_sps = NumberOf(At(result, "sampling_sps"));
  found.iterations = NumberOf(At(result, "iterations"));
  found.env_steps = NumberOf(At(result, "env_steps"));
  found.episodes = NumberOf(At(result, "episodes"));
  found.trial_s = NumberOf(At(result, "trial_s"));
  found.threads = NumberOf(At(result, "threads"));
  found.learner_threads = NumberOf(At(result, "learner_threads"));
  found.evaluated_at = NumberOf(At(result, "evaluated_at"));
  found.chunk_rows = NumberOf(At(result, "chunk_rows"));
  found.balance = NumberOf(At(At(result, "rollout"), "balance"));
  found.monitor_cpu_s = NumberOf(At(At(result, "monitors"), "cpu_s"));
  found.process_cpu_s = NumberOf(At(At(result, "monitors"), "process_cpu_s"));
  found.phase_shares = PhaseShares(At(result, "phases"));
  found.time = TimeMeasures(At(result, "time"));
  if (const std::optional<double> share = NumberOf(At(result, "control_unnamed_share")))
    found.time.emplace_back("time/unnamed_control_pct", 100 * *share);
  const json& shrinks = At(At(result, "data"), "shrinks");
  for (const json& one : shrinks.is_array() ? shrinks : json::array()) {
    const auto number = [&](const char* name) { return NumberOf(At(one, name)).value_or(0); };
    found.shrinks.push_back({number("iteration"), number("micro_batch_before"), number("micro_batch_after"),
                             number("live_bytes"), number("peak_bytes")});
  }
  if (const json& precision = At(result, "precision"); precision.is_object()) {
    try {
      found.precision = RecordFromJson<ReachedPrecision>(precision);
    } catch (const RecordError&) {
      // As of all else that is not there: it was not measured.
    }
  }
  found.registered = Registered(At(result, "measures"));
  found.facts = Facts(At(result, "facts"));
  AddMeasured("", result, &found.statistics);
  AddMeasured("eval/", At(result, "evaluation"), &found.statistics);
  AddMeasured("floor_zero/", At(result, "floor_zero"), &found.statistics);
  AddMeasured("floor_uniform/", At(result, "floor_uniform"), &found.statistics);
  std::sort(found.statistics.begin(), found.statistics.end(),
            [](const Statistic& a, const Statistic& b) { return a.name < b.name; });
  return found;
}

std::vector<IterationValue> ReadIterations(const std::filesystem::path& attempt_dir) {
  std::vector<IterationValue> values;
  ForEachMetricsLine(attempt_dir / "metrics.jsonl", [&](const json& line) {
    const json& iteration = At(line, "iteration");
    if (!iteration.is_number_unsigned()) return;
    for (MetricValue& one : MetricSeries(line)) {
      values.push_back({iteration.get<uint64_t>(), std::move(one.name), one.value});
    }
  });
  return values;
}

}  // namespace backplane
