// The cheapest env: shows the cost of the authoring layer.
#include "backplane/env.hpp"

struct Null {
  static constexpr bp::About kAbout{"env.null", "1.0.0", "Does nothing: observations of 32 numbers, reward 0."};
  static bp::EnvSpec Spec(const auto&) { return bp::EnvSpec().Obs(32).ActionBox(1, -1, 1).MaxEpisodeSteps(100); }
  void Reset(const auto&, bp::Rng&, float* obs) { std::memset(obs, 0, 32 * sizeof(float)); }
  bp::StepResult Step(const auto&, bp::Rng&, const float* action, float* obs, float*) {
    const float value = *action;  // once: obs might alias it
    for (int i = 0; i < 32; ++i) obs[i] = value;
    return {};
  }
};

BP_PLUGINS(bp::Env<Null>);
