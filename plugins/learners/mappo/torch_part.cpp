#include "torch_part.hpp"

namespace backplane::mappo {

const TorchPart kTorchPart = {sizeof(TorchPart), MakeTorchModel, torch_common::HasCuda, torch_common::MemoryOfPart(),
                              MakeTorchActor};

}  // namespace backplane::mappo
