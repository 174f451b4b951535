// The part's entry.
#include "torch_plugin.hpp"

using backplane::ppo::PpoTorch;
BP_PLUGINS(PpoTorch);
