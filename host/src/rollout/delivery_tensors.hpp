// The tensors of a delivery by name, in the order in which they were given.
#pragma once

#include <cstdint>
#include <vector>

#include "backplane/learner.h"
#include "rollout/buffers.hpp"
#include "rollout/moments.hpp"

namespace backplane {

class DeliveryTensors {
 public:
  void Clear();
  // Name and tensor stay where they are.
  void Give(const char* name, bp_tensor* tensor);
  // "obs_count", "obs_mean" and "obs_m2", which point into `moments`.
  void GiveMoments(Moments& moments);
  // All that was given since Clear, as one delivery; valid until the next Clear or Give.
  bp_delivery Make(uint32_t kind) const;

 private:
  std::vector<const char*> names_;
  std::vector<bp_tensor*> tensors_;
  Tensor count_, mean_, m2_;
};

}  // namespace backplane
