// The part's entry.
#include "torch_plugin.hpp"

using backplane::mappo::MappoTorch;
BP_PLUGINS(MappoTorch);
