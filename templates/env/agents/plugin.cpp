// Three robots on a line learn to meet. Each moves left, moves right or stays.
#include <algorithm>
#include <cmath>

#include "backplane/env.hpp"

// One row with all its robots. The layer in env.hpp adds rows, seeds, buffers and snapshots.
struct Meeting {
  static constexpr bp::About kAbout{"env.template_agents", "1.0.0", "Three robots on a line learn to meet."};
  static constexpr uint32_t kRobots = 3;
  using Action = int32_t;  // 0 left, 1 stay, 2 right

  // Options with their defaults, shared by all rows.
  struct Model {
    double stride = 0.1;
    int64_t max_episode_steps = 60;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("stride", &Model::stride, "(0,1]", "Distance a robot moves per step; robots within one stride have met.",
              {.unit = "m"}),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)", "Steps after which the host ends an episode."),
  };

  // STATE is the input of a central critic.
  static bp::EnvSpec Spec(const Model& model) {
    bp::EnvSpec spec;
    spec.MaxAgents(kRobots).AgentObs(2).AgentActionDiscrete(3).State(kRobots).Info("ep/spread");
    return spec.MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model&, bp::Rng& rng, const bp::RowView& out) {
    for (double& place : x) place = rng.Range(-1, 1);
    Show(out);
  }

  // Reward: minus the distance to the others. The episode ends when all have met.
  bool Step(const Model& model, bp::Rng&, const bp::RowStep<Action>& row) {
    for (size_t a = 0; a < kRobots; ++a) x[a] += model.stride * (row.action[a] - 1);
    for (size_t a = 0; a < kRobots; ++a) row.reward[a] = static_cast<float>(-std::fabs(ToOthers(a)));
    row.info[0] = static_cast<float>(Spread());
    Show(row);
    return Spread() < model.stride;
  }

  void Show(const bp::RowView& out) const {
    for (size_t a = 0; a < kRobots; ++a) {
      out.obs[a][0] = static_cast<float>(x[a]);
      out.obs[a][1] = static_cast<float>(ToOthers(a));
      out.state[a] = static_cast<float>(x[a]);
    }
  }
  // The signed distance to the middle of the others.
  double ToOthers(size_t a) const { return (x[0] + x[1] + x[2] - x[a]) / 2 - x[a]; }
  double Spread() const { return *std::max_element(x, x + kRobots) - *std::min_element(x, x + kRobots); }

  double x[kRobots] = {};  // m
};

BP_PLUGINS(bp::MultiEnv<Meeting>);
