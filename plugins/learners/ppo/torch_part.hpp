// What learner_ppo_torch.so offers the plugin, which opens it where its options ask for LibTorch. Both are of one build, so
// that C++ types may cross between them.
#pragma once

#include <memory>

#include "gradient.hpp"

namespace backplane::ppo {

struct TorchPart {
  uint32_t struct_size;
  bool (*has_cuda)();  // LibTorch is built for CUDA and sees a GPU
  std::unique_ptr<Gradient<float>> (*gradient)(const Net& net, const bp_host* host, bp_device device, bool amp);
};

extern const TorchPart kTorchPart;  // in the part

}  // namespace backplane::ppo
