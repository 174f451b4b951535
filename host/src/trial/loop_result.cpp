// What the loop tells of its trial when that has ended.
#include "trial/loop.hpp"
#include "trial/time_table.hpp"

namespace backplane {

LoopResult TrialLoop::Result() const {
  LoopResult result;
  static_cast<PhaseTimes&>(result) = PhaseTable(parts_.threads.clocks(), state_.clock.measured_ns());
  static_cast<MeasuredTimes&>(result) = Measured();
  static_cast<MetricsRecord&>(result) = state_.lines.SoFar();
  result.iterations = state_.count.iterations;
  result.env_steps = state_.count.env_steps;
  result.episodes = state_.window.total();
  result.wall_s = state_.clock.attempt_s();
  result.trial_s = state_.clock.trial_s();
  speed_.AddTo(&result, state_.clock.attempt_s());
  result.rollout = collecting_.Use();
  result.data = collecting_.data().Result();
  result.training = {state_.window.Returns(), state_.window.Metrics()};
  evaluation_.AddTo(&result);
  result.checkpoint = checkpointing_.path();
  result.long_ticks = ticks_.long_ticks();
  return result;
}

MeasuredTimes TrialLoop::Measured() const {
  const std::vector<PhaseClock>& clocks = parts_.threads.clocks();
  MeasuredTimes measured{TimeTable(clocks, state_.clock.measured_ns(), RunQueueWaitNs(clocks), parts_.metrics.ByGroup()), {}};
  for (const MetricsHub::Metric& metric : parts_.metrics.Registered())
    measured.measures[metric.name] = {metric.unit, metric.direction, metric.doc};
  return measured;
}

}  // namespace backplane
