#include "humanoid_standup.hpp"

struct HumanoidStandupPlugin : humanoid_standup::HumanoidStandup {
  using HumanoidStandup::HumanoidStandup;
  static constexpr bp::About kAbout{.id = "env.humanoid_standup",
                                    .version = "1.0.0",
                                    .summary = "A lying body learns to stand up: HumanoidStandup-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "HumanoidStandup-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<HumanoidStandupPlugin>);
