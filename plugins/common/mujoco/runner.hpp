// Bodies that are paid for running along x. Runner: the parts that HalfCheetah, Swimmer, Hopper and Walker2d of Gymnasium
// share. PlanarWalker: the parts of the two that may fall.
#pragma once

#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace mj {

struct RunnerOptions : TaskOptions {
  double forward_reward_weight = 1, ctrl_cost_weight = 0.1;
};
inline constexpr auto kForwardReward =
    bp::Opt("forward_reward_weight", &RunnerOptions::forward_reward_weight, "Reward per m/s along x.");
inline constexpr auto kCtrlCost = bp::Opt("ctrl_cost_weight", &RunnerOptions::ctrl_cost_weight, "[0,)",
                                          "Cost of the sum of squared actions; a higher cost makes the gait calmer.");
inline constexpr auto kExcludeX = bp::Opt("exclude_current_positions_from_observation", &TaskOptions::exclude_current_positions,
                                          "Leaves x of the root out of the observation.");

// The terms of the reward for a body that cannot fall, with the signs of the sum.
struct RunnerTerms {
  double forward = 0, ctrl = 0;
  static constexpr bool terminated = false;
  double Reward() const { return forward - -ctrl; }
};

// `kHidden`: numbers at the start of qpos that exclude_current_positions leaves out.
template <class T, class W, int kHidden>
class Runner : public Task<T, W> {
 public:
  using Task<T, W>::Task;
  using Terms = RunnerTerms;
  static constexpr bool kContactForces = false;

  Terms Judge(const W& w, const float* action) const {
    return {.forward = w.forward_reward_weight * this->velocity().x,
            .ctrl = -SquaresOfAction(w.ctrl_cost_weight, action, w.nu())};
  }

  template <class Out>
  void Observe(const W& w, const Out& out) const {
    const int skipped = w.exclude_current_positions ? kHidden : 0;
    out(this->data().qpos + skipped, w.nq() - skipped);
    out(this->data().qvel, w.nv());
  }
};

struct WalkerOptions : RunnerOptions {
  WalkerOptions() { frame_skip = 4, ctrl_cost_weight = 0.001, reset_noise_scale = 0.005; }
  void Check(const bp::Config&) const {
    RequireOrder("healthy_z_min", healthy_z_min, "healthy_z_max", healthy_z_max);
    RequireOrder("healthy_angle_min", healthy_angle_min, "healthy_angle_max", healthy_angle_max);
  }

  double healthy_reward = 1;
  bool terminate_when_unhealthy = true;
  double healthy_z_min = 0, healthy_z_max = 0, healthy_angle_min = 0, healthy_angle_max = 0;
};

// The table of a task whose Options derive from WalkerOptions.
template <class Options>
inline constexpr bp::OptionTable kWalkerOptions{
    kForwardReward,
    kCtrlCost,
    bp::Opt<Options, double>("healthy_reward", &Options::healthy_reward, "Reward of every step with a healthy body."),
    bp::Opt("terminate_when_unhealthy", &WalkerOptions::terminate_when_unhealthy,
            "Ends the episode if the body is not healthy."),
    bp::Opt("healthy_z_min", &WalkerOptions::healthy_z_min, "The torso is healthy above this height.",
            {.unit = "m", .aliases = "healthy_z_range[0]"}),
    bp::Opt("healthy_z_max", &WalkerOptions::healthy_z_max, "The torso is healthy below this height.",
            {.unit = "m", .aliases = "healthy_z_range[1]"}),
    bp::Opt("healthy_angle_min", &WalkerOptions::healthy_angle_min, "The torso is healthy above this angle.",
            {.unit = "rad", .aliases = "healthy_angle_range[0]"}),
    bp::Opt("healthy_angle_max", &WalkerOptions::healthy_angle_max, "The torso is healthy below this angle.",
            {.unit = "rad", .aliases = "healthy_angle_range[1]"}),
    bp::Opt("reset_noise_scale", &TaskOptions::reset_noise_scale, "[0,)",
            "Spread of the initial positions and speeds (both uniform)."),
    kExcludeX,
    kFrameSkip,
    kMaxEpisodeSteps,
    kXmlPath,
};

// Its root moves along x and z and turns about y, in this order.
template <class T, class W>
class PlanarWalker : public Runner<T, W, 1> {
  using Base = Runner<T, W, 1>;

 public:
  using Base::Base;
  using Terms = WalkerTerms;

  // A task may add conditions.
  bool Healthy(const W& w) const {
    const double z = this->data().qpos[1], angle = this->data().qpos[2];
    return w.healthy_z_min < z && z < w.healthy_z_max && w.healthy_angle_min < angle && angle < w.healthy_angle_max;
  }

  Terms Judge(const W& w, const float* action) const {
    const bool healthy = static_cast<const T*>(this)->Healthy(w);
    const RunnerTerms run = Base::Judge(w, action);
    return {.forward = run.forward,
            .survive = (healthy ? 1.0 : 0.0) * w.healthy_reward,
            .ctrl = run.ctrl,
            .contact = -0.0,
            .terminated = w.terminate_when_unhealthy && !healthy};
  }

  template <class Out>
  void Observe(const W& w, const Out& out) const {
    const int skipped = w.exclude_current_positions ? 1 : 0;
    out(this->data().qpos + skipped, w.nq() - skipped);
    out(this->data().qvel, w.nv(), [](double speed) { return Clip(speed, -10, 10); });
  }

  template <class Out>
  void Inform(const W& w, const Terms& terms, const Out& out) const {
    out("x_position", this->data().qpos[0]);
    out("z_distance_from_origin", this->data().qpos[1] - w.model()->qpos0[1]);
    out("x_velocity", this->velocity().x);
    out("reward_forward", terms.forward);
    out("reward_ctrl", terms.ctrl);
    out("reward_survive", terms.survive);
    out("ep/x_displacement", this->displacement().x);
  }
};

// A model for PlanarWalker.
template <class Options>
struct WalkerWorld : World<Options> {
  WalkerWorld(const Options& options, const char* file_name, const char* xml)
      : World<Options>(options, {file_name, xml, mjJNT_SLIDE}) {
    this->Require(this->nq() >= 3, "joints along x and z and about y first", std::to_string(this->nq()) + " positions");
  }
};

}  // namespace mj
