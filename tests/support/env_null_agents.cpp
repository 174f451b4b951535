// The cheapest env with four agents per row: shows the cost of agents.
#include "backplane/env.hpp"

struct NullAgents {
  static constexpr bp::About kAbout{"env.null_agents", "1.0.0",
                                    "Does nothing: 4 agents with observations of 32 numbers, reward 0."};
  static constexpr size_t kAgents = 4, kObs = 32;

  static bp::EnvSpec Spec(const auto&) {
    return bp::EnvSpec().MaxAgents(kAgents).AgentObs(kObs).AgentActionBox(1, -1, 1).MaxEpisodeSteps(100);
  }
  void Reset(const auto&, bp::Rng&, const bp::RowView& out) { std::ranges::fill(out.obs.all(), 0.0f); }
  bool Step(const auto&, bp::Rng&, const bp::RowStep<float>& row) {
    for (size_t a = 0; a < kAgents; ++a) {
      const float value = row.action[a][0];  // once: obs might alias it
      for (size_t i = 0; i < kObs; ++i) row.obs[a][i] = value;
      row.reward[a] = 0;
    }
    return false;
  }
};

BP_PLUGINS(bp::MultiEnv<NullAgents>);
