#include "backplane/env.hpp"
#include "pendulum.hpp"

struct Pendulum : pendulum::State {
  static constexpr bp::About kAbout{"env.pendulum", "1.0.0", "Swing a pendulum up: Pendulum-v1 of Gymnasium, bit for bit."};
  static constexpr bp_param kOptions[] = {
      bp::F64("g", "10", nullptr, "Acceleration of gravity; more makes the motor relatively weaker.", {.unit = "m/s^2"}),
      bp::I64("max_episode_steps", "200", "[1,)", "The host ends an episode after so many steps; it never ends by itself."),
  };
  struct Model {
    explicit Model(const bp::Config& config) : g(config.F64("g")), max_episode_steps(config.I64("max_episode_steps")) {}
    double g;
    int64_t max_episode_steps;
  };

  static bp::EnvSpec Spec(const Model& model) {
    const double speed = pendulum::kMaxSpeed, torque = pendulum::kMaxTorque;
    return bp::EnvSpec()
        .Obs({-1, -1, -speed}, {1, 1, speed})
        .ActionBox(1, -torque, torque)
        .MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model&, bp::Rng& rng, float* obs) {
    theta = rng.Range(-std::numbers::pi, std::numbers::pi);
    theta_dot = rng.Range(-1, 1);
    Observe(obs);
  }

  bp::StepResult Step(const Model& model, bp::Rng&, const float* action, float* obs, float*) {
    const double reward = Advance(model.g, *action);
    Observe(obs);
    return {.reward = reward};
  }
};

BP_PLUGINS(bp::Env<Pendulum>);
