// The plugin and its part in one module, which the tests link.
#include "plugin.hpp"
#include "torch_plugin.hpp"

using backplane::ppo::Ppo;
using backplane::ppo::PpoTorch;
BP_PLUGINS(Ppo, PpoTorch);
