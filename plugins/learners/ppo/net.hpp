// The networks of an actor and a critic over one flat parameter buffer: where each weight lies, how it starts, and a forward
// pass whose result for a row does not depend on the other rows (BP_FLAG_ROW_EXACT).
#pragma once

#include <cstdint>
#include <vector>

#include "nn/layers.hpp"

namespace backplane::ppo {

using nn::Activation;

struct NetShape {
  int64_t obs, actions;
  bool discrete = false;
  std::vector<int64_t> hidden, vf_hidden;  // of the actor; of the critic
  bool shared = false;                     // one trunk (`hidden`) for both heads
  Activation activation = Activation::kTanh;
  bool sde = false;  // noise that depends on the state: one deviation per latent and action
};

struct Net {
  explicit Net(const NetShape& shape);
  const nn::Trunk& value_trunk() const { return shared ? actor : critic; }
  int64_t latent() const { return policy.in; }
  int64_t log_stds() const { return discrete ? 0 : sde ? latent() * actions : actions; }

  int64_t obs, actions;
  bool discrete, shared, sde;
  Activation activation;
  nn::Trunk actor, critic;  // critic is empty when shared
  nn::Layer policy, value;
  int64_t log_std, size;  // log_std: offset of log_stds() numbers, [actions] or with sde [latent, actions]
  int64_t widest;         // of all layers' results
};

// Fills `params` from Philox streams of `seed`: orthogonal weights with gains sqrt 2, 0.01 (policy head), 1 (value head), or
// uniform in +-1/sqrt(in) without `orthogonal`; biases 0.
void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params);

// The weights as the products want them; to be packed anew after every change of the parameters. Read by any thread.
template <class T>
struct PackedNet {
  // With `backward` also what gradients need.
  void Pack(const Net& net, const T* params, bool backward);
  std::vector<nn::PackedLayer<T>> actor, critic;
  nn::PackedLayer<T> policy, value;
};

// One thread's buffers for a block of rows.
template <class T>
struct Workspace {
  void Reserve(const Net& net, int64_t rows);
  nn::Activations<T> actor, critic;
  std::vector<T> head, value;  // [rows, actions], [rows]
  const T* latent = nullptr;   // [rows, net.latent()], the actor's; valid after Forward
  const T* value_latent = nullptr;
};

// Both heads for obs [rows, net.obs].
template <class T>
void Forward(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out);
// The critic alone.
template <class T>
void ForwardValue(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out);

}  // namespace backplane::ppo
