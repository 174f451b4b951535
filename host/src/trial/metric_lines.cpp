#include "trial/metric_lines.hpp"

#include <cmath>

#include "record/fields.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

// JSON has no infinities; a metric that is not finite is written as null.
nlohmann::json Number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

}  // namespace

MetricLines::MetricLines(const LoopParts& parts)
    : metrics_(parts.metrics), file_(AttemptFolder(parts.spec.attempt_dir).metrics(), parts.spec.attempt) {}

void MetricLines::Make(const TrialCount& count, const OpenIteration& iteration, const EpisodeWindow& window) {
  unwritten_ = {{"iteration", count.iterations}, {"step", count.env_steps}, {"episodes", window.total()}};
  unwritten_["return"] = window.Returns();
  unwritten_["ep"] = window.Metrics();
  for (const auto& [name, value] : metrics_.Take(false)) unwritten_["metrics"][name] = Number(value);
  // Everything that differs from run to run stands in here, so that the rest of two runs can be compared byte for byte.
  const auto steps = static_cast<double>(iteration.steps);
  unwritten_["time"] = {{"iteration_s", iteration.seconds()},
                        {"sps", steps / iteration.seconds()},
                        {"sampling_sps", steps / iteration.collecting_s()}};
}

void MetricLines::TakeMachine() {
  for (const auto& [name, value] : metrics_.Take(true)) unwritten_["time"]["machine"].emplace(name, Number(value));
}

nlohmann::json MetricLines::Write(double trial_s) {
  TakeMachine();
  nlohmann::json line = std::exchange(unwritten_, nlohmann::json());
  line["time"]["t"] = trial_s;
  file_.Append(line);
  return line;
}

MetricsRecord MetricLines::SoFar() const {
  MetricsRecord record{before_};
  record.metrics_parts->push_back(file_.written());
  return record;
}

}  // namespace backplane
