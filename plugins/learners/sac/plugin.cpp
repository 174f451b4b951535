// The plugin's entry.
#include "plugin.hpp"

using backplane::sac::Sac;
BP_PLUGINS_SINCE(1, Sac);
