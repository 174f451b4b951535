#include "trial/reporting.hpp"

#include "trial/metric_events.hpp"

namespace backplane {

Reporting::Reporting(const LoopParts& parts, LoopState& state, WarningList& warnings)
    : parts_(parts), state_(state), live_(parts, warnings), phase_events_(parts.threads.clocks(), parts.monitors) {}

void Reporting::ReportIteration(const Iteration& line, double progress, const CollectData& data) {
  StatusFile& status = parts_.status.data();
  status.iteration = state_.count.iterations;
  status.env_steps = state_.count.env_steps;
  status.episodes = state_.window.total();
  status.progress = progress;
  status.sps = line.time.sps.value_or(0);
  status.episode_return = state_.window.mean_return();
  live_.Show(line);
  live_.WarnOnceOfUnknown(line, data);
  HandOverPhases();
  PostIteration(parts_.monitors, line, state_.iteration.end_ns, state_.iteration.duration_ns());
}

void Reporting::ReportMetrics(const Iteration& line) {
  live_.Show(line);
  PostMetrics(parts_.monitors, line);
}

}  // namespace backplane
