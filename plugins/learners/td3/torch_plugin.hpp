// The part's class, for its entry.
#pragma once

#include "backplane/plugin.hpp"
#include "trainer.hpp"

namespace backplane::td3 {

extern const Part kTorchPart;  // defined in learner_td3_torch.so

struct Td3Torch : bp::Part {
  static constexpr bp::About kAbout{
      .id = "part.learner_td3_torch", .version = "1.0.0", .summary = "Updates of learner.td3 with LibTorch's autograd"};
  static const void* Api() { return &kTorchPart; }
};

}  // namespace backplane::td3
