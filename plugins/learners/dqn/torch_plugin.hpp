// The part's class, for its entry.
#pragma once

#include "backplane/plugin.hpp"
#include "trainer.hpp"

namespace backplane::dqn {

extern const Part kTorchPart;  // defined in learner_dqn_torch.so

struct DqnTorch : bp::Part {
  static constexpr bp::About kAbout{
      .id = "part.learner_dqn_torch", .version = "1.0.0", .summary = "Updates of learner.dqn with LibTorch's autograd"};
  static const void* Api() { return &kTorchPart; }
};

}  // namespace backplane::dqn
