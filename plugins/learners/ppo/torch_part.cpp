#include "torch_part.hpp"

#include "torch/device.hpp"

namespace backplane::ppo {

const TorchPart kTorchPart = {sizeof(TorchPart), torch_common::HasCuda, TorchGradient<float>, torch_common::MemoryOfPart()};

}  // namespace backplane::ppo
