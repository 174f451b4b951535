#include "humanoid.hpp"

struct HumanoidPlugin : humanoid::Humanoid {
  using Humanoid::Humanoid;
  static constexpr bp::About kAbout{"env.humanoid", "1.0.0",
                                    "A two-legged body learns to walk: Humanoid-v5 of Gymnasium on MuJoCo."};
};

BP_PLUGINS(bp::Env<HumanoidPlugin>);
