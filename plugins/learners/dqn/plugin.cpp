// The plugin's entry.
#include "plugin.hpp"

using backplane::dqn::Dqn;
BP_PLUGINS_SINCE(1, Dqn);
