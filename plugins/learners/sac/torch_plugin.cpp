// The part's entry.
#include "torch_plugin.hpp"

using backplane::sac::SacTorch;
BP_PLUGINS(SacTorch);
