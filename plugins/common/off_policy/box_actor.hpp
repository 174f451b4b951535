// Chooses actions of a box by a tower whose outputs are squashed into [-1, 1]. Runners call it concurrently on disjoint rows;
// weights change only between calls.
#pragma once

#include <vector>

#include "backplane/learner.hpp"
#include "off_policy/net.hpp"
#include "rl/env_shape.hpp"

namespace backplane::off_policy {

// Outputs of `act`, in this order: for the env, and in [-1, 1].
enum Output { kAction, kSquashed };

// Throws bp::Unsupported for discrete actions and for actions without both bounds.
void NeedBox(const rl::EnvShape& shape);

class BoxActor {
 public:
  BoxActor(const Net& net, const rl::EnvShape& shape);
  virtual ~BoxActor() = default;

  // `random`: uniform actions in [-1, 1] instead of the policy's. A row's action depends only on its own input. [rows]
  void Act(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random) const;

 protected:
  int64_t actions() const { return net_.actions; }
  // An action that explores, [actions], from the tower's head and the stream of `key`: before tanh, and a change after it.
  virtual void Sample(const float* head, uint64_t key, float* out) const = 0;
  virtual void Perturb(uint64_t /*key*/, float* /*squashed*/) const {}

 private:
  void Choose(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random, float* squashed) const;

  Net net_;
  std::vector<float> low_, high_;
};

}  // namespace backplane::off_policy
