#include "reacher.hpp"

struct ReacherPlugin : reacher::Reacher {
  using Reacher::Reacher;
  static constexpr bp::About kAbout{.id = "env.reacher",
                                    .version = "1.0.0",
                                    .summary = "A planar arm learns to reach a point: Reacher-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Reacher-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<ReacherPlugin>);
