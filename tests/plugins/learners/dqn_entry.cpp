// The plugin and its part in one module, which the tests link.
#include "plugin.hpp"
#include "torch_plugin.hpp"

using backplane::dqn::Dqn;
using backplane::dqn::DqnTorch;
BP_PLUGINS_SINCE(1, Dqn, DqnTorch);
