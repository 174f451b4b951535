// Chooses actions: a Gaussian squashed by tanh.
#pragma once

#include "off_policy/box_actor.hpp"

namespace backplane::sac {

class Actor : public off_policy::BoxActor {
 public:
  using BoxActor::BoxActor;

 protected:
  void Sample(const float* head, uint64_t key, float* out) const override;
};

}  // namespace backplane::sac
