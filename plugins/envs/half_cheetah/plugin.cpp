#include "half_cheetah.hpp"

struct HalfCheetahPlugin : half_cheetah::HalfCheetah {
  using HalfCheetah::HalfCheetah;
  static constexpr bp::About kAbout{"env.half_cheetah", "1.0.0",
                                    "A planar two-legged body learns to run: HalfCheetah-v5 of Gymnasium on MuJoCo."};
};

BP_PLUGINS(bp::Env<HalfCheetahPlugin>);
