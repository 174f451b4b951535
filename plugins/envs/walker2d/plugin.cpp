#include "walker2d.hpp"

struct Walker2dPlugin : walker2d::Walker2d {
  using Walker2d::Walker2d;
  static constexpr bp::About kAbout{.id = "env.walker2d",
                                    .version = "1.0.0",
                                    .summary = "A planar two-legged body learns to walk: Walker2d-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Walker2d-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<Walker2dPlugin>);
