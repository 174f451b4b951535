// The part's class, for its entry.
#pragma once

#include "backplane/plugin.hpp"
#include "torch_part.hpp"

namespace backplane::ppo {

struct PpoTorch : bp::Part {
  static constexpr bp::About kAbout{
      .id = "part.learner_ppo_torch", .version = "1.0.0", .summary = "Updates of learner.ppo with LibTorch's autograd"};
  static const void* Api() { return &kTorchPart; }
};

}  // namespace backplane::ppo
