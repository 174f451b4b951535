#include <limits>

#include "backplane/env.hpp"
#include "cartpole.hpp"

struct CartPole : cartpole::State {
  static constexpr bp::About kAbout{.id = "env.cartpole",
                                    .version = "1.0.0",
                                    .summary = "Balance a pole on a cart: CartPole-v1 of Gymnasium, bit for bit.",
                                    .aliases = "CartPole-v1",
                                    .rows = 16};
  struct Model {
    bool sutton_barto_reward = false;
    int64_t max_episode_steps = 500;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("sutton_barto_reward", &Model::sutton_barto_reward, "Pay 0 a step and -1 for the fall, in place of 1 a step."),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)",
              "The host ends an episode after so many steps; 200 gives CartPole-v0."),
  };
  using Action = int32_t;

  static bp::EnvSpec Spec(const Model& model) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    const double x = 2 * cartpole::kXLimit, theta = 2 * cartpole::kThetaLimit;
    return bp::EnvSpec()
        .Obs({-x, -kAny, -theta, -kAny}, {x, kAny, theta, kAny})
        .ActionDiscrete(2)
        .MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model&, bp::Rng& rng, float* obs) {
    for (double* value : {&x, &x_dot, &theta, &theta_dot}) *value = rng.Range(-cartpole::kResetRange, cartpole::kResetRange);
    Observe(obs);
  }

  bp::StepResult Step(const Model& model, bp::Rng&, const int32_t* action, float* obs, float*) {
    Advance(*action == 1);
    Observe(obs);
    const bool fallen = Fallen();
    return {.reward = !model.sutton_barto_reward ? 1.0 : fallen ? -1.0 : 0.0, .terminated = fallen};
  }
};

BP_PLUGINS(bp::Env<CartPole>);
