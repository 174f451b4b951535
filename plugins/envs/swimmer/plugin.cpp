#include "swimmer.hpp"

struct SwimmerPlugin : swimmer::Swimmer {
  using Swimmer::Swimmer;
  static constexpr bp::About kAbout{.id = "env.swimmer",
                                    .version = "1.0.0",
                                    .summary = "A chain of three links learns to swim: Swimmer-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Swimmer-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<SwimmerPlugin>);
