// The plugin's entry.
#include "plugin.hpp"

using backplane::ppo::Ppo;
BP_PLUGINS(Ppo);
