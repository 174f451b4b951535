// The task Reacher-v5 of Gymnasium: a planar arm is paid for holding its tip at a random point. See README.md for the formulas.
#pragma once

#include <utility>

#include "mujoco/arm.hpp"
#include "reacher_model.hpp"

namespace reacher {

struct Options : mj::ArmOptions {
  Options() { frame_skip = 2, max_episode_steps = 50; }
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt<Options, double>("reward_dist_weight", &Options::reward_dist_weight,
                             "Cost of the tip's distance from the target, per m."),
    bp::Opt("reward_control_weight", &mj::ArmOptions::reward_control_weight, "Cost of the sum of squared actions."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<Options> {
  explicit World(const Options& o) : mj::World<Options>(o, {"reacher.xml", kModelXml, mjJNT_HINGE}) {
    Require(nq() == nv() && nq() >= 4, "two hinges of an arm first and two slides of the target last",
            std::to_string(nq()) + " positions");
  }

  const int tip = Body("xml_path", "fingertip"), target = Body("xml_path", "target");
};

// One row.
class Reacher : public mj::Arm<Reacher, World> {
 public:
  using Arm::Arm;
  static constexpr auto& kOptions = reacher::kOptions;
  static constexpr mj::View kView{.turn = 0, .tilt = 1.2, .zoom = 0.7};

  // The target is uniform within 0.2 m of the root.
  static void Disturb(const World& w, bp::Rng& rng, double* qpos, double* qvel) {
    for (int i = 0; i < w.nq() - 2; ++i) qpos[i] += rng.Range(-0.1, 0.1);
    for (int i = 0; i < w.nv() - 2; ++i) qvel[i] = rng.Range(-0.005, 0.005);
    double x, y;
    do {
      x = rng.Range(-0.2, 0.2), y = rng.Range(-0.2, 0.2);
    } while (std::hypot(x, y) >= 0.2);
    qpos[w.nq() - 2] = x, qpos[w.nq() - 1] = y;
  }

  std::pair<int, int> Gap(const World& w) const { return {w.tip, w.target}; }

  Terms Judge(const World& w, const float* action) const {
    return {.dist = -Distance(w.tip, w.target) * w.reward_dist_weight,
            .ctrl = -mj::SquaresOfAction(w.reward_control_weight, action, w.nu())};
  }

  template <class Out>
  void Observe(const World& w, const Out& out) const {
    const mjData& now = data();
    const mjtNum *tip = Position(w.tip), *target = Position(w.target), gap[] = {tip[0] - target[0], tip[1] - target[1]};
    out(now.qpos, 2, mj::Cosine());
    out(now.qpos, 2, mj::Sine());
    out(now.qpos + 2, w.nq() - 2);
    out(now.qvel, 2);
    out(gap, 2);
  }
  static std::vector<bp::Label> Labels(const World& w, std::string_view channel) {
    std::vector<bp::Label> labels = Arm::Labels(w, channel);
    if (channel == "obs") labels[labels.size() - 2] = {"x of the tip minus the target", "m"};
    if (channel == "obs") labels[labels.size() - 1] = {"y of the tip minus the target", "m"};
    return labels;
  }

  template <class Out>
  void Inform(const World& w, const Terms& terms, const Out& out) const {
    out("reward_dist", terms.dist);
    out("reward_ctrl", terms.ctrl);
    out("ep/distance", Distance(w.tip, w.target));
  }
};

}  // namespace reacher
