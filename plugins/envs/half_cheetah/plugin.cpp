#include "half_cheetah.hpp"

struct HalfCheetahPlugin : half_cheetah::HalfCheetah {
  using HalfCheetah::HalfCheetah;
  static constexpr bp::About kAbout{.id = "env.half_cheetah",
                                    .version = "1.0.0",
                                    .summary = "A planar two-legged body learns to run: HalfCheetah-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "HalfCheetah-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<HalfCheetahPlugin>);
