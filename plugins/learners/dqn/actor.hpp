// Chooses actions: the best allowed choice, or a random one. Runners call it concurrently on disjoint rows; weights change only
// between calls.
#pragma once

#include <cstdint>

#include "backplane/learner.hpp"
#include "net.hpp"

namespace backplane::dqn {

// Outputs of `act`, in this order: for the env, and for the replay buffer (Net::stored).
enum Output { kAction, kStored };

class Actor {
 public:
  explicit Actor(const Net& net) : net_(net) {}

  // `epsilon`: the probability of a random choice. Throws bp::Error if a mask allows no choice. A row's action depends only on
  // its own input. [rows]
  void Act(const bp_act& act, const PackedTower<float>& weights, const float* params, double epsilon) const;

 private:
  int64_t Choose(const float* head, const uint8_t* mask, uint64_t key, double epsilon) const;

  Net net_;
};

}  // namespace backplane::dqn
