// The plugin's entry.
#include "plugin.hpp"

using backplane::td3::Td3;
BP_PLUGINS_SINCE(1, Td3);
