#include "ant.hpp"

struct AntPlugin : ant::Ant {
  using Ant::Ant;
  static constexpr bp::About kAbout{.id = "env.ant",
                                    .version = "1.1.0",
                                    .summary = "A four-legged body learns to walk: Ant-v5 of Gymnasium on MuJoCo.",
                                    .aliases = "Ant-v5",
                                    .rows = 32};
};

BP_PLUGINS(bp::Env<AntPlugin>);
