// The part's class, for its entry.
#pragma once

#include "backplane/plugin.hpp"
#include "torch_part.hpp"

namespace backplane::mappo {

struct MappoTorch : bp::Part {
  static constexpr bp::About kAbout{.id = "part.learner_mappo_torch",
                                    .version = "1.0.0",
                                    .summary = "Acting and updates of learner.mappo with LibTorch, also on a GPU"};
  static const void* Api() { return &kTorchPart; }
};

}  // namespace backplane::mappo
