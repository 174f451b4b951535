#include "backplane/env.hpp"
#include "pendulum.hpp"

struct Pendulum : pendulum::State {
  static constexpr bp::About kAbout{.id = "env.pendulum",
                                    .version = "1.0.0",
                                    .summary = "Swing a pendulum up: Pendulum-v1 of Gymnasium, bit for bit.",
                                    .aliases = "Pendulum-v1",
                                    .rows = 16};
  struct Model {
    double g = 10;
    int64_t max_episode_steps = 200;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("g", &Model::g, "Acceleration of gravity; more makes the motor relatively weaker.", {.unit = "m/s^2"}),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)",
              "The host ends an episode after so many steps; it never ends by itself."),
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
