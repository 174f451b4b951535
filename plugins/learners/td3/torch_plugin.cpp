// The part's entry.
#include "torch_plugin.hpp"

using backplane::td3::Td3Torch;
BP_PLUGINS(Td3Torch);
