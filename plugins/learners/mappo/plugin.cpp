// The plugin's entry.
#include "plugin.hpp"

using backplane::mappo::Mappo;
BP_PLUGINS_SINCE(1, Mappo);  // a memory is a channel of BP_ROLE_CARRY
