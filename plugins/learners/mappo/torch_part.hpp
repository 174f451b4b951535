// The interface of learner_mappo_torch.so, which the plugin loads if its options or the env's device require LibTorch. Both are
// built together, so C++ types may cross the boundary.
#pragma once

#include "torch/memory.hpp"
#include "torch_model.hpp"

namespace backplane::mappo {

struct TorchPart {
  uint32_t struct_size;
  std::unique_ptr<TorchModel> (*model)(const Net& net, const EnvShape& shape, const TorchOptions& options, const bp_host* host);
  bool (*has_cuda)();  // LibTorch is built for CUDA and sees a GPU
  torch_common::Memory memory;
  std::unique_ptr<TorchActor> (*actor)(const Net& net, const EnvShape& shape, bp_device device, const bp_host* host);
};

extern const TorchPart kTorchPart;  // defined in learner_mappo_torch.so

}  // namespace backplane::mappo
