// A complete env in one file: steer a point mass on a line to 0.
#include <cmath>

#include "backplane/env.hpp"

// One row. The layer in env.hpp adds rows, seeds, buffers and snapshots.
struct Point {
  static constexpr bp::About kAbout{"env.template_cpp", "1.0.0", "A point mass on a line, to be steered to 0."};

  // Options with their defaults, shared by all rows.
  struct Model {
    double dt = 0.05, reset_range = 1;
    int64_t max_episode_steps = 200;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("dt", &Model::dt, "(0,1]", "Seconds per step; larger steps are harder to steer.", {.unit = "s"}),
      bp::Opt("reset_range", &Model::reset_range, "(0,10]", "Episodes start at a position drawn from +- this range.",
              {.unit = "m"}),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)", "Steps after which the host ends an episode."),
  };

  static bp::EnvSpec Spec(const Model& model) {
    return bp::EnvSpec().Obs(2).ActionBox(1, -1, 1).Info("ep/distance").MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model& model, bp::Rng& rng, float* obs) {
    x = rng.Range(-model.reset_range, model.reset_range);
    v = 0;
    Observe(obs);
  }

  // Reward: minus the squared distance, minus a small cost of the force. The episode ends at a distance of 10 m.
  bp::StepResult Step(const Model& model, bp::Rng&, const float* action, float* obs, float* info) {
    const double force = std::fmin(std::fmax(action[0], -1.0), 1.0);
    v += model.dt * force;
    x += model.dt * v;
    Observe(obs);
    info[0] = static_cast<float>(std::fabs(x));
    return {.reward = -(x * x) - 0.01 * (force * force), .terminated = std::fabs(x) > 10.0};
  }

  void Observe(float* obs) const {
    obs[0] = static_cast<float>(x);
    obs[1] = static_cast<float>(v);
  }

  double x = 0, v = 0;  // m, m/s
};

BP_PLUGINS(bp::Env<Point>);
