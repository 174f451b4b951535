// The plugin and its part in one module, which the tests link.
#include "plugin.hpp"
#include "torch_plugin.hpp"

using backplane::td3::Td3;
using backplane::td3::Td3Torch;
BP_PLUGINS_SINCE(1, Td3, Td3Torch);
