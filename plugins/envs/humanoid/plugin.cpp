#include "humanoid.hpp"

struct HumanoidPlugin : humanoid::Humanoid {
  using Humanoid::Humanoid;
  static constexpr bp::About kAbout{.id = "env.humanoid",
                                    .version = "1.0.0",
                                    .summary = "A two-legged body learns to walk: Humanoid-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Humanoid-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<HumanoidPlugin>);
