// Samples of a block as the two networks take them: observations and states with many zeros, a state shared by the agents of
// its env step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net.hpp"
#include "nn/sparse.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/parts.hpp"

namespace backplane::mappo {

// The weights as the products want them; to be packed anew after every change of the parameters. Read by any thread.
struct PackedNet {
  // With `backward` also what gradients need. `precision`: of all but the input layers.
  void Pack(const Net& net, const float* params, bool backward, nn::Precision precision, const Parallel& parallel);
  PackedTower<float> actor, critic;                       // of the input layers nothing
  nn::Packed<float> actor_obs, critic_state, critic_obs;  // of the input layers
};

// Where a block's rows come from.
struct Inputs {
  const nn::SparseRows* obs;
  const nn::SparseRows* state;       // NULL: the critic reads none, or is not asked
  std::span<const int32_t> step_of;  // [obs rows] row of `state`
};

// For one thread at a time.
class Block {
 public:
  // At most kBlock rows; neighbours of one env step share the work for its state.
  void Take(const Inputs& inputs, std::span<const int32_t> rows);
  int64_t rows() const { return obs_.rows(); }
  // Forward passes of the networks.
  void RunActor(const Net& net, const PackedNet& weights, const float* params, TowerWork<float>* work) const;
  void RunCritic(const Net& net, const PackedNet& weights, const float* params, TowerWork<float>* work);
  // Passes backward, given work->d_head.
  void AddActorGradient(const Net& net, const PackedNet& weights, TowerWork<float>* work, float* gradient);
  void AddCriticGradient(const Net& net, const PackedNet& weights, TowerWork<float>* work, float* gradient);

 private:
  nn::InputBlock obs_, state_;
  std::vector<int32_t> steps_, step_at_;  // distinct env steps; place in it of each row
  std::vector<float> by_step_;            // [steps, first hidden layer]
  nn::Packed<float> packed_;
};

}  // namespace backplane::mappo
