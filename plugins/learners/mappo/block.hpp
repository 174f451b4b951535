// Samples of a block as inputs of the two networks: mostly zero observations and states, with one state for all agents of an
// env step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net.hpp"
#include "nn/sparse.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/parts.hpp"

namespace backplane::mappo {

// Weights packed for products; pack again after every change of the parameters. Any thread may read them.
struct PackedNet {
  // With `backward`, also packs for gradients. `precision` applies to all but the first layers.
  void Pack(const Net& net, const float* params, bool backward, nn::Precision precision, const Parallel& parallel);
  PackedTower<float> actor, critic;                       // without the first layers
  nn::Packed<float> actor_obs, critic_state, critic_obs;  // first layers, of the actor or its memory
};

// Sources of a block's rows.
struct Inputs {
  const nn::SparseRows* obs;
  const nn::SparseRows* state;       // NULL: the critic has no state, or does not run
  std::span<const int32_t> step_of;  // [obs rows] row of `state`
};

// Not thread-safe.
class Block {
 public:
  // Adjacent rows of one env step share the work for its state.
  void Take(const Inputs& inputs, std::span<const int32_t> rows);
  int64_t rows() const { return obs_.rows(); }
  // Forward passes of the networks.
  void RunActor(const Net& net, const PackedNet& weights, const float* params, TowerWork<float>* work) const;
  void RunCritic(const Net& net, const PackedNet& weights, const float* params, TowerWork<float>* work);
  // Backward passes, given work->d_head.
  void AddActorGradient(const Net& net, const PackedNet& weights, TowerWork<float>* work, float* gradient);
  void AddCriticGradient(const Net& net, const PackedNet& weights, TowerWork<float>* work, float* gradient);

 private:
  nn::InputBlock obs_, state_;
  std::vector<int32_t> steps_, step_at_;  // distinct env steps; each row's index in them
  std::vector<float> by_step_;            // [steps, first hidden layer]
  nn::Packed<float> packed_;
};

}  // namespace backplane::mappo
