// The plugin's entry.
#include "plugin.hpp"

using backplane::ppo::Ppo;
BP_PLUGINS_SINCE(1, Ppo);  // a memory is a channel of BP_ROLE_CARRY
