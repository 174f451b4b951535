#include "trial/play_record.hpp"

namespace backplane {

void PlayRecord::Add(uint64_t steps, const std::vector<Episode>& episodes, const std::vector<std::string>& info_names) {
  state_.iteration.Collected();
  RestoreProcessState(Suspects());  // later changes are the learner's
  state_.iteration.steps = steps;
  state_.count.env_steps += steps;
  const PhaseSpan span(parts_.clock(), Phase::kMonitor);
  state_.window.Add(episodes, info_names);
  PostEpisodes(episodes);
}

void PlayRecord::AddUse(const PoolUse& use) {
  parts_.metrics.Record("rollout/balance", use.balance);
  parts_.metrics.Record("rollout/wall_eff", use.wall_eff);
  use_sum_ = {use_sum_.balance + use.balance, use_sum_.wall_eff + use.wall_eff};
  ++uses_;
}

void PlayRecord::PostEpisodes(const std::vector<Episode>& episodes) {
  if (!parts_.monitors.Wants(BP_EVENT_EPISODE)) return;
  for (const Episode& episode : episodes) {
    bp_event event{};
    event.type = BP_EVENT_EPISODE;
    event.iteration = state_.count.open_iteration();
    event.env_steps = state_.count.env_steps;
    event.instance = static_cast<uint32_t>(episode.row);
    event.value = episode.episode_return;
    parts_.monitors.Post(event, "return");
  }
}

std::optional<ThreadUse> PlayRecord::Use() const {
  if (uses_ == 0) return std::nullopt;
  const auto n = static_cast<double>(uses_);
  return ThreadUse{use_sum_.balance / n, use_sum_.wall_eff / n};
}

}  // namespace backplane
