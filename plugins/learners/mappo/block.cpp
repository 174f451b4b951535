#include "block.hpp"

#include <algorithm>

#include "nn/vectors.hpp"

namespace backplane::mappo {
namespace {

// The layer with sparse inputs, and its sums.
const nn::Layer& FirstOf(const Tower& tower) { return tower.memory.size > 0 ? tower.memory.input : tower.hidden.front(); }
float* FirstSums(const Tower& tower, TowerWork<float>* work) {
  return tower.memory.size > 0 ? work->memory.gates.data() : work->results[0].data();
}

void StartFromBias(const nn::Layer& layer, const float* params, int64_t rows, float* sums) {
  for (int64_t i = 0; i < rows; ++i) std::copy_n(params + layer.bias, layer.out, sums + i * layer.out);
}

}  // namespace

void PackedNet::Pack(const Net& net, const float* params, bool backward, nn::Precision precision, const Parallel& parallel) {
  const nn::Layer &of_actor = FirstOf(net.actor), &of_critic = FirstOf(net.critic);
  // The first layers are packed by input, below. All hidden layers of an actor with a memory come after it.
  const size_t first_of_actor = net.actor.memory.size > 0 ? 0 : 1;
  constexpr size_t kFirst = 1;
  constexpr int64_t kInputs = 3;
  actor.precision = critic.precision = precision;
  actor.Reserve(net.actor), critic.Reserve(net.critic);
  const int64_t actors = actor.Pieces(net.actor, first_of_actor), critics = critic.Pieces(net.critic, kFirst);
  ForPieces(parallel, kInputs + actors + critics, net.size, [&](uint64_t raw) {
    const int64_t i = static_cast<int64_t>(raw), of_tower = i - kInputs;
    if (i == 0) return actor_obs.Set(params + of_actor.weight, net.obs, of_actor.out);
    if (i == 1) return critic_state.Set(params + of_critic.weight, net.state, of_critic.out);
    if (i == 2) return critic_obs.Set(params + of_critic.weight + net.state * of_critic.out, net.obs, of_critic.out);
    if (of_tower % 2 == 1 && !backward) return;
    of_tower < actors ? actor.PackPiece(net.actor, params, of_tower, first_of_actor)
                      : critic.PackPiece(net.critic, params, of_tower - actors, kFirst);
  });
}

void Block::Take(const Inputs& inputs, std::span<const int32_t> rows) {
  obs_.Take(*inputs.obs, rows);
  if (!inputs.state) return;
  steps_.clear(), step_at_.clear();
  for (int32_t row : rows) {
    const int32_t step = inputs.step_of[row];
    if (steps_.empty() || steps_.back() != step) steps_.push_back(step);
    step_at_.push_back(static_cast<int32_t>(steps_.size()) - 1);
  }
  state_.Take(*inputs.state, steps_);
}

void Block::RunActor(const Net& net, const PackedNet& weights, const float* params, TowerWork<float>* work) const {
  const nn::Layer& first = FirstOf(net.actor);
  float* sums = FirstSums(net.actor, work);
  StartFromBias(first, params, rows(), sums);
  obs_.AddProduct(params + first.weight, weights.actor_obs, sums);
  Forward<float>(net.actor, weights.actor, params, nullptr, rows(), work);
}

void Block::RunCritic(const Net& net, const PackedNet& weights, const float* params, TowerWork<float>* work) {
  const nn::Layer& first = FirstOf(net.critic);
  const int64_t out = first.out;
  const float* w = params + first.weight;
  float* sums = work->results[0].data();
  if (net.state == 0) {
    StartFromBias(first, params, rows(), sums);
  } else {
    by_step_.resize(std::max<size_t>(by_step_.size(), state_.rows() * out));
    StartFromBias(first, params, state_.rows(), by_step_.data());
    state_.AddProduct(w, weights.critic_state, by_step_.data());
    for (int64_t i = 0; i < rows(); ++i) std::copy_n(&by_step_[step_at_[i] * out], out, sums + i * out);
  }
  obs_.AddProduct(w + net.state * out, weights.critic_obs, sums);
  Forward<float>(net.critic, weights.critic, params, nullptr, rows(), work);
}

void Block::AddActorGradient(const Net& net, const PackedNet& weights, TowerWork<float>* work, float* gradient) {
  const float* d = Backward<float>(net.actor, weights.actor, nullptr, nullptr, rows(), work, gradient);
  obs_.AddTransposed(d, FirstOf(net.actor).out, &packed_, gradient + FirstOf(net.actor).weight);
}

void Block::AddCriticGradient(const Net& net, const PackedNet& weights, TowerWork<float>* work, float* gradient) {
  const float* d = Backward<float>(net.critic, weights.critic, nullptr, nullptr, rows(), work, gradient);
  const int64_t out = FirstOf(net.critic).out;
  float* w = gradient + FirstOf(net.critic).weight;
  obs_.AddTransposed(d, out, &packed_, w + net.state * out);
  if (net.state == 0) return;
  std::fill_n(by_step_.begin(), state_.rows() * out, 0.0f);
  for (int64_t i = 0; i < rows(); ++i) nn::Add(d + i * out, out, &by_step_[step_at_[i] * out]);
  state_.AddTransposed(by_step_.data(), out, &packed_, w);
}

}  // namespace backplane::mappo
