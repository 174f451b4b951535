#include "hopper.hpp"

struct HopperPlugin : hopper::Hopper {
  using Hopper::Hopper;
  static constexpr bp::About kAbout{.id = "env.hopper",
                                    .version = "1.0.0",
                                    .summary = "A planar body learns to hop on one leg: Hopper-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Hopper-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<HopperPlugin>);
