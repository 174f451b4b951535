// The part's entry.
#include "torch_plugin.hpp"

using backplane::dqn::DqnTorch;
BP_PLUGINS(DqnTorch);
