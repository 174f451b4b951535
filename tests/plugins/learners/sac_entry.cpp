// The plugin and its part in one module, which the tests link.
#include "plugin.hpp"
#include "torch_plugin.hpp"

using backplane::sac::Sac;
using backplane::sac::SacTorch;
BP_PLUGINS_SINCE(1, Sac, SacTorch);
