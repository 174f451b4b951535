#include "mujoco/drawing.hpp"
#include "quadruped_stand.hpp"

struct QuadrupedStandPlugin : quadruped_stand::QuadrupedStand {
  using QuadrupedStand::QuadrupedStand;
  static constexpr bp::About kAbout{.id = "env.quadruped_stand",
                                    .version = "1.0.0",
                                    .summary = "A box on four legs learns to stand, in two stages; on MuJoCo.",
                                    .rows = 32};
  static bp::PictureSize SizeOfPicture(const Model&) { return mj::kPicture; }
  static double SecondsOfStep(const Model& world) {
    return world.model()->opt.timestep * static_cast<double>(world.action_repeat);
  }
  void DrawBackdrop(const Model&, std::string* out) const { mj::DrawGround(out); }
  // The torso is green while the quadruped stands.
  void DrawFrame(const Model& world, std::string* out) const {
    const bool stands = memory().streak > 0;
    char caption[96];
    std::snprintf(caption, sizeof caption, "%.2f s, height %.3f m, %s; stood for %lld steps", data().time, data().qpos[2],
                  stands ? "stands" : "does not stand", static_cast<long long>(memory().standing));
    mj::DrawBody(world.model(), data(), caption, out, {.trunk = stands ? "#009e73" : "#9aa3ad"});
  }
};

BP_PLUGINS(bp::Env<QuadrupedStandPlugin>);
