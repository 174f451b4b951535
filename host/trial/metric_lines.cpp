#include "trial/metric_lines.hpp"

#include <utility>

#include "record/results_folder.hpp"

namespace backplane {
MetricLines::MetricLines(const LoopParts& parts)
    : metrics_(parts.metrics),
      env_(parts.env),
      phases_(parts.threads.clocks()),
      file_(AttemptFolder(parts.spec.attempt_dir).metrics(), parts.spec.attempt) {}

void MetricLines::Make(const TrialCount& count, const OpenIteration& iteration, const EpisodeWindow& window) {
  Iteration& line = unwritten_.emplace();
  line.iteration = count.iterations;
  line.step = count.env_steps;
  line.episodes = window.total();
  line.episode_return = window.Returns();
  line.ep = window.Metrics();
  line.metrics = metrics_.Take(false);
  if (env_.below() != nullptr) line.metrics.emplace("inner_steps", static_cast<double>(env_.TakeOwnSteps(0, env_.rows())));
  const auto steps = static_cast<double>(iteration.steps);
  line.time.iteration_s = iteration.seconds();
  line.time.sps = steps / iteration.seconds();
  line.time.sampling_sps = steps / iteration.collecting_s();
}

void MetricLines::TakeTimes() {
  unwritten_->time.machine.merge(metrics_.Take(true));
  phases_.AddTo(&unwritten_->time.phases);
}

void MetricLines::Append(Iteration line) {
  phases_.AddTo(&line.time.phases);
  file_.Append(line);
}

Iteration MetricLines::Write(double trial_s) {
  TakeTimes();
  Iteration line = *std::exchange(unwritten_, std::nullopt);
  line.time.t = trial_s;
  file_.Append(line);
  return line;
}

MetricsRecord MetricLines::SoFar() const {
  MetricsRecord record{before_};
  record.metrics_parts->push_back(file_.written());
  return record;
}

}  // namespace backplane
