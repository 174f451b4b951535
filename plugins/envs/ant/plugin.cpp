#include "ant.hpp"

struct AntPlugin : ant::Ant {
  using Ant::Ant;
  static constexpr bp::About kAbout{"env.ant", "1.1.0", "A four-legged body learns to walk: Ant-v5 of Gymnasium on MuJoCo."};
};

BP_PLUGINS(bp::Env<AntPlugin>);
