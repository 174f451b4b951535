// Chooses actions: tanh of the tower's outputs, with Gaussian noise if it explores.
#pragma once

#include "off_policy/box_actor.hpp"

namespace backplane::td3 {

class Actor : public off_policy::BoxActor {
 public:
  // `noise`: its deviation, of actions in [-1, 1].
  Actor(const off_policy::Net& net, const rl::EnvShape& shape, double noise)
      : BoxActor(net, shape), noise_(static_cast<float>(noise)) {}

 protected:
  void Sample(const float* head, uint64_t key, float* out) const override;
  void Perturb(uint64_t key, float* squashed) const override;

 private:
  float noise_;
};

}  // namespace backplane::td3
