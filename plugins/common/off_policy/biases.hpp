// Initial biases as in PyTorch: uniform in +-1/sqrt(inputs), from Philox streams of `seed`. InitParams leaves them at 0.
#pragma once

#include <cmath>
#include <initializer_list>

#include "backplane/rng.h"
#include "off_policy/net.hpp"

namespace backplane::off_policy {

inline void InitBiases(std::initializer_list<TowerParams> towers, uint64_t seed) {
  uint64_t number = 0;
  for (const TowerParams& each : towers) {
    for (const nn::Layer& layer : AllLayers(*each.tower)) {
      bp_rng rng{bp_seed(seed, BP_PURPOSE_LEARNER, 4, number++), 0};
      const double bound = 1 / std::sqrt(static_cast<double>(layer.in));
      for (int64_t i = 0; i < layer.out; ++i)
        each.params[layer.bias + i] = static_cast<float>(bp_rng_range(&rng, -bound, bound));
    }
  }
}

}  // namespace backplane::off_policy
