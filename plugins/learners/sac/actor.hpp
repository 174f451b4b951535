// Chooses actions. Runners call it concurrently on disjoint rows; weights change only between calls.
#pragma once

#include <vector>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "rl/env_shape.hpp"

namespace backplane::sac {

// Outputs of `act`, in this order: for the env, and in [-1, 1].
enum Output { kAction, kSquashed };

class Actor {
 public:
  Actor(const Net& net, const rl::EnvShape& shape);

  // `random`: uniform actions in [-1, 1] instead of the policy's. A row's action depends only on its own input. [rows]
  void Act(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random) const;

 private:
  void Choose(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random, float* squashed) const;

  Net net_;
  std::vector<float> low_, high_;
};

}  // namespace backplane::sac
