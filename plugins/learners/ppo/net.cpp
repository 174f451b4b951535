#include "net.hpp"

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"

namespace backplane::ppo {
namespace {

nn::Layer AddLayer(int64_t in, int64_t out, Net* net) {
  const nn::Layer layer{in, out, net->size, net->size + in * out};
  net->size += (in + 1) * out;
  net->widest = std::max(net->widest, out);
  return layer;
}

nn::Trunk AddTrunk(int64_t in, const std::vector<int64_t>& hidden, Net* net) {
  nn::Trunk trunk;
  for (int64_t out : hidden) trunk.push_back(AddLayer(in, out, net)), in = out;
  return trunk;
}

int64_t Width(const nn::Trunk& trunk, int64_t in) { return trunk.empty() ? in : trunk.back().out; }

}  // namespace

Net::Net(const NetShape& s)
    : obs(s.obs),
      actions(s.actions),
      discrete(s.discrete),
      shared(s.shared),
      sde(s.sde),
      activation(s.activation),
      size(0),
      widest(1) {
  actor = AddTrunk(obs, s.hidden, this);
  policy = AddLayer(Width(actor, obs), actions, this);
  if (!shared) critic = AddTrunk(obs, s.vf_hidden, this);
  value = AddLayer(Width(value_trunk(), obs), 1, this);
  log_std = size, size += log_stds();
}

void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params) {
  uint64_t number = 0;
  const auto init = [&](const nn::Layer& layer, double gain) {
    InitLayer(layer, gain, orthogonal, bp_seed(seed, BP_PURPOSE_LEARNER, 1, number++), params);
  };
  for (const nn::Layer& layer : net.actor) init(layer, std::sqrt(2.0));
  init(net.policy, 0.01);
  for (const nn::Layer& layer : net.critic) init(layer, std::sqrt(2.0));
  init(net.value, 1.0);
  std::fill_n(params + net.log_std, net.log_stds(), static_cast<float>(log_std));
}

template <class T>
void PackedNet<T>::Pack(const Net& net, const T* params, bool backward) {
  const auto pack = [&](const nn::Layer& from, nn::PackedLayer<T>* to) {
    backward ? to->Pack(from, params) : to->PackForward(from, params);
  };
  actor.resize(net.actor.size()), critic.resize(net.critic.size());
  for (size_t i = 0; i < actor.size(); ++i) pack(net.actor[i], &actor[i]);
  for (size_t i = 0; i < critic.size(); ++i) pack(net.critic[i], &critic[i]);
  pack(net.policy, &policy), pack(net.value, &value);
}

template <class T>
void Workspace<T>::Reserve(const Net& net, int64_t rows) {
  nn::Reserve(net.actor, rows, &actor), nn::Reserve(net.critic, rows, &critic);
  head.resize(std::max<size_t>(head.size(), rows * net.actions));
  value.resize(std::max<size_t>(value.size(), rows));
}

template <class T>
void ForwardValue(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out) {
  auto& results = net.shared ? out->actor : out->critic;
  out->value_latent =
      TrunkForward(net.value_trunk(), net.activation, net.shared ? weights.actor : weights.critic, params, obs, rows, &results);
  nn::Multiply(out->value_latent, weights.value.forward, params + net.value.bias, rows, out->value.data());
}

template <class T>
void Forward(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out) {
  ForwardValue(net, weights, params, obs, rows, out);
  out->latent =
      net.shared ? out->value_latent : TrunkForward(net.actor, net.activation, weights.actor, params, obs, rows, &out->actor);
  nn::Multiply(out->latent, weights.policy.forward, params + net.policy.bias, rows, out->head.data());
}

template struct PackedNet<float>;
template struct PackedNet<double>;
template struct Workspace<float>;
template struct Workspace<double>;
template void Forward(const Net&, const PackedNet<float>&, const float*, const float*, int64_t, Workspace<float>*);
template void Forward(const Net&, const PackedNet<double>&, const double*, const double*, int64_t, Workspace<double>*);
template void ForwardValue(const Net&, const PackedNet<float>&, const float*, const float*, int64_t, Workspace<float>*);
template void ForwardValue(const Net&, const PackedNet<double>&, const double*, const double*, int64_t, Workspace<double>*);

}  // namespace backplane::ppo
