// The plugin's entry.
#include "plugin.hpp"

using backplane::mappo::Mappo;
BP_PLUGINS(Mappo);
