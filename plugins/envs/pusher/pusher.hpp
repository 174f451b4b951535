// The task Pusher-v5 of Gymnasium: an arm is paid for pushing a cylinder to a goal. See README.md for the formulas.
#pragma once

#include <utility>

#include "mujoco/arm.hpp"
#include "pusher_model.hpp"

namespace pusher {

struct Options : mj::ArmOptions {
  Options() { max_episode_steps = 100, reward_control_weight = 0.1; }

  double reward_near_weight = 0.5;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("reward_near_weight", &Options::reward_near_weight, "Cost of the hand's distance from the object, per m."),
    bp::Opt("reward_dist_weight", &mj::ArmOptions::reward_dist_weight, "Cost of the object's distance from the goal, per m."),
    bp::Opt("reward_control_weight", &mj::ArmOptions::reward_control_weight, "Cost of the sum of squared actions."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

inline constexpr int kJoints = 7;  // of the arm

struct World : mj::World<Options> {
  explicit World(const Options& o) : mj::World<Options>(o, {"pusher.xml", kModelXml, mjJNT_HINGE}) {
    Require(nq() == nv() && nq() >= kJoints + 4, "seven hinges of an arm first, then two slides of the object and of the goal",
            std::to_string(nq()) + " positions");
  }

  const int hand = Body("xml_path", "tips_arm"), object = Body("xml_path", "object"), goal = Body("xml_path", "goal");
};

// One row.
class Pusher : public mj::Arm<Pusher, World> {
 public:
  using Arm::Arm;
  static constexpr auto& kOptions = pusher::kOptions;
  static constexpr mj::View kView{.turn = 0, .tilt = 0.9, .zoom = 0.9};

  // The object is uniform in a box around the goal, but more than 0.17 m away from it.
  static void Disturb(const World& w, bp::Rng& rng, double* qpos, double* qvel) {
    double* const object = qpos + w.nq() - 4;
    do {
      object[0] = rng.Range(-0.3, 0), object[1] = rng.Range(-0.2, 0.2);
    } while (std::hypot(object[0], object[1]) <= 0.17);
    object[2] = object[3] = 0;  // the goal
    for (int i = 0; i < w.nv() - 4; ++i) qvel[i] = rng.Range(-0.005, 0.005);
  }

  std::pair<int, int> Gap(const World& w) const { return {w.object, w.goal}; }

  Terms Judge(const World& w, const float* action) const {
    return {.dist = -Distance(w.object, w.goal) * w.reward_dist_weight,
            .ctrl = -mj::SquaresOfAction(w.reward_control_weight, action, w.nu()),
            .near = -Distance(w.object, w.hand) * w.reward_near_weight};
  }

  template <class Out>
  void Observe(const World& w, const Out& out) const {
    out(data().qpos, kJoints);
    out(data().qvel, kJoints);
    for (const int body : {w.hand, w.object, w.goal}) out(Position(body), 3);
  }

  template <class Out>
  void Inform(const World& w, const Terms& terms, const Out& out) const {
    out("reward_dist", terms.dist);
    out("reward_ctrl", terms.ctrl);
    out("reward_near", terms.near);
    out("ep/distance", Distance(w.object, w.goal));
  }
};

}  // namespace pusher
