// What the loop tells of its trial when that has ended.
#include "record/fields.hpp"
#include "trial/loop.hpp"
#include "trial/time_table.hpp"

namespace backplane {

nlohmann::json TrialLoop::Result() const {
  nlohmann::json out = PhaseTable(parts_.threads.clocks(), state_.clock.measured_ns());
  out.update(ToJson(state_.lines.SoFar()));
  out["iterations"] = state_.count.iterations;
  out["env_steps"] = state_.count.env_steps;
  out["episodes"] = state_.window.total();
  out["wall_s"] = state_.clock.attempt_s();
  out["trial_s"] = state_.clock.trial_s();  // with earlier attempts
  speed_.AddTo(&out, state_.clock.attempt_s());
  collectors_.AddTo(&out);
  out["return"] = state_.window.Returns();
  out["metrics"] = state_.window.Metrics();
  evaluation_.AddTo(&out);
  out["checkpoint"] = checkpointing_.path();
  ticks_.AddTo(&out);
  AddMeasured(&out);
  return out;
}

void TrialLoop::AddMeasured(nlohmann::json* out) const {
  const std::vector<PhaseClock>& clocks = parts_.threads.clocks();
  (*out)["time"] = TimeTable(clocks, state_.clock.measured_ns(), RunQueueWaitNs(clocks), parts_.metrics.ByGroup());
  nlohmann::json& measures = (*out)["measures"] = nlohmann::json::object();
  for (const MetricsHub::Metric& metric : parts_.metrics.Registered())
    measures[metric.name] = {{"unit", metric.unit}, {"direction", metric.direction}, {"doc", metric.doc}};
}

}  // namespace backplane
