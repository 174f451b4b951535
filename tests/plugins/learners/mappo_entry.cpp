// The plugin and its part in one module, which the tests link.
#include "plugin.hpp"
#include "torch_plugin.hpp"

using backplane::mappo::Mappo;
using backplane::mappo::MappoTorch;
BP_PLUGINS(Mappo, MappoTorch);
