// What learner_mappo_torch.so offers the plugin, which opens it where its options or the env's device ask for LibTorch. Both
// are of one build, so that C++ types may cross between them.
#pragma once

#include "torch_model.hpp"

namespace backplane::mappo {

struct TorchPart {
  uint32_t struct_size;
  std::unique_ptr<TorchModel> (*model)(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host);
  std::unique_ptr<TorchActor> (*actor)(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host);
};

extern const TorchPart kTorchPart;  // in the part

}  // namespace backplane::mappo
