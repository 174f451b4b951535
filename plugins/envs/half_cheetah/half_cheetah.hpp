// The task HalfCheetah-v5 of Gymnasium: a planar two-legged body is paid for running along x. See README.md for the formulas.
#pragma once

#include "half_cheetah_model.hpp"
#include "mujoco/runner.hpp"

namespace half_cheetah {

inline constexpr bp::OptionTable kOptions{
    mj::kForwardReward,
    mj::kCtrlCost,
    bp::Opt("reset_noise_scale", &mj::RunnerOptions::reset_noise_scale, "[0,)",
            "Spread of the initial positions (uniform) and speeds (normal)."),
    mj::kExcludeX,
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<mj::RunnerOptions> {
  explicit World(const mj::RunnerOptions& o) : mj::World<mj::RunnerOptions>(o, {"half_cheetah.xml", ModelXml(), mjJNT_SLIDE}) {}
};

// One row.
class HalfCheetah : public mj::Runner<HalfCheetah, World, 1> {
 public:
  using Runner::Runner;
  static constexpr auto& kOptions = half_cheetah::kOptions;

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }

  template <class Out>
  void Inform(const World&, const Terms& terms, const Out& out) const {
    out("x_position", data().qpos[0]);
    out("x_velocity", velocity().x);
    out("reward_forward", terms.forward);
    out("reward_ctrl", terms.ctrl);
    out("ep/x_displacement", displacement().x);
  }
};

}  // namespace half_cheetah
