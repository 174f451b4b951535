#include "torch_part.hpp"

namespace backplane::mappo {

const TorchPart kTorchPart = {sizeof(TorchPart), MakeTorchModel, MakeTorchActor};

}  // namespace backplane::mappo
