#include "block.hpp"

#include <algorithm>

#include "nn/vectors.hpp"

namespace backplane::mappo {

void PackedNet::Pack(const Net& net, const float* params, bool backward) {
  actor.Pack(net.actor, params, backward), critic.Pack(net.critic, params, backward);
  actor_obs.Set(params + net.actor.input.weight, net.obs, net.actor.input.out);
  const float* state_weights = params + net.critic.input.weight;
  critic_state.Set(state_weights, net.state, net.critic.input.out);
  critic_obs.Set(state_weights + net.state * net.critic.input.out, net.obs, net.critic.input.out);
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

void Block::ActorSums(const Net& net, const PackedNet& weights, const float* params, float* first) const {
  StartFromBias(net.actor, params, rows(), first);
  obs_.AddProduct(params + net.actor.input.weight, weights.actor_obs, first);
}

void Block::CriticSums(const Net& net, const PackedNet& weights, const float* params, float* first) {
  const int64_t out = net.critic.input.out;
  const float* w = params + net.critic.input.weight;
  if (net.state == 0) {
    StartFromBias(net.critic, params, rows(), first);
  } else {
    by_step_.resize(std::max<size_t>(by_step_.size(), kBlock * out));
    StartFromBias(net.critic, params, state_.rows(), by_step_.data());
    state_.AddProduct(w, weights.critic_state, by_step_.data());
    for (int64_t i = 0; i < rows(); ++i) std::copy_n(&by_step_[step_at_[i] * out], out, first + i * out);
  }
  obs_.AddProduct(w + net.state * out, weights.critic_obs, first);
}

void Block::AddActorGradient(const Net& net, const float* d, float* gradient) {
  obs_.AddTransposed(d, net.actor.input.out, &packed_, gradient + net.actor.input.weight);
}

void Block::AddCriticGradient(const Net& net, const float* d, float* gradient) {
  const int64_t out = net.critic.input.out;
  float* w = gradient + net.critic.input.weight;
  obs_.AddTransposed(d, out, &packed_, w + net.state * out);
  if (net.state == 0) return;
  std::fill_n(by_step_.begin(), state_.rows() * out, 0.0f);
  for (int64_t i = 0; i < rows(); ++i) nn::Add(d + i * out, out, &by_step_[step_at_[i] * out]);
  state_.AddTransposed(by_step_.data(), out, &packed_, w);
}

}  // namespace backplane::mappo
