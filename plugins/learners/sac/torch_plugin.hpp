// The part's class, for its entry.
#pragma once

#include "backplane/plugin.hpp"
#include "trainer.hpp"

namespace backplane::sac {

extern const Part kTorchPart;  // defined in learner_sac_torch.so

struct SacTorch : bp::Part {
  static constexpr bp::About kAbout{
      .id = "part.learner_sac_torch", .version = "1.0.0", .summary = "Updates of learner.sac with LibTorch's autograd"};
  static const void* Api() { return &kTorchPart; }
};

}  // namespace backplane::sac
