// The interface of learner_ppo_torch.so, which the plugin loads if its options require LibTorch. Both are built together, so
// C++ types may cross the boundary.
#pragma once

#include <memory>

#include "gradient.hpp"
#include "torch/memory.hpp"

namespace backplane::ppo {

struct TorchPart {
  uint32_t struct_size;
  bool (*has_cuda)();  // LibTorch is built for CUDA and sees a GPU
  std::unique_ptr<Gradient<float>> (*gradient)(const Net& net, const bp_host* host, const TorchOptions& options);
  torch_common::Memory memory;
};

extern const TorchPart kTorchPart;  // defined in learner_ppo_torch.so

}  // namespace backplane::ppo
