// PPO's networks over one flat parameter buffer: the actor, the critic, the logarithms of the deviations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "on_policy/distributions.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/tower.hpp"
#include "on_policy/vision.hpp"

namespace backplane::ppo {

using namespace on_policy;  // PPO builds on it

struct NetShape {
  int64_t obs, actions;
  bool discrete = false;
  std::vector<int64_t> hidden, vf_hidden;  // of the actor; of the critic
  bool shared = false;                     // one trunk (`hidden`) for both heads
  Activation activation = Activation::kTanh;
  bool sde = false;                    // state-dependent noise: one deviation per latent and action
  int64_t memory = 0;                  // size of the state of each net's memory; 0: none
  Distributions distributions = {};    // of the action; empty: one choice of `actions`, or as many Gaussian numbers
  std::vector<nn::Image> images = {};  // observed in addition to `obs` numbers
};

struct Net {
  explicit Net(const NetShape& shape);
  int64_t latent() const { return actor.latent(); }
  int64_t log_stds() const { return sde ? latent() * actions : action.numbers; }
  // Numbers of a row's memory: the actor's state, then the critic's if it has its own.
  int64_t carry() const { return actor.memory.size + critic.memory.size; }

  // Inputs of the towers: features of the images, then `obs` numbers.
  int64_t inputs() const { return actor_inputs; }
  bool sees() const { return !visions.empty(); }

  int64_t obs, actions;         // actions: outputs of the actor
  std::vector<Vision> visions;  // of each image, shared by actor and critic
  int64_t actor_inputs = 0;
  Distributions action;
  bool discrete, shared, sde;  // discrete: no Gaussian
  Tower actor, critic;         // shared: the critic is a head on the actor's latent
  int64_t log_std, size;       // log_std: offset of log_stds() values, one per number or with sde [latent, actions]
};

// Like InitTowers, and sets every log_std.
void InitParams(const Net& net, uint64_t seed, bool orthogonal, double log_std, float* params);

template <class T>
struct PackedNet {
  void Pack(const Net& net, const T* params, bool backward) {
    actor.Pack(net.actor, params, backward), critic.Pack(net.critic, params, backward);
    visions.resize(net.visions.size());
    for (size_t i = 0; i < visions.size(); ++i) visions[i].Pack(net.visions[i], params, backward);
  }
  // Packs for gradients too, on several threads.
  void Pack(const Net& net, const T* params, const Parallel& parallel) {
    actor.Reserve(net.actor), critic.Reserve(net.critic);
    const int64_t of_actor = actor.Pieces(net.actor), of_towers = of_actor + critic.Pieces(net.critic);
    int64_t pieces = of_towers;
    visions.resize(net.visions.size());
    for (size_t i = 0; i < visions.size(); ++i) {
      visions[i].precision = actor.precision, visions[i].Reserve(net.visions[i]);
      pieces += visions[i].Pieces(net.visions[i]);
    }
    const auto pack = [&](uint64_t raw) {
      auto piece = static_cast<int64_t>(raw);
      if (piece < of_actor) return actor.PackPiece(net.actor, params, piece);
      if (piece < of_towers) return critic.PackPiece(net.critic, params, piece - of_actor);
      piece -= of_towers;
      size_t i = 0;
      for (; piece >= visions[i].Pieces(net.visions[i]); ++i) piece -= visions[i].Pieces(net.visions[i]);
      visions[i].PackPiece(net.visions[i], params, piece);
    };
    ForPieces(parallel, pieces, net.size, pack);
  }
  PackedTower<T> actor, critic;
  std::vector<PackedVision<T>> visions;
};

// One thread's buffers for a block of rows.
template <class T>
struct Workspace {
  void Reserve(const Net& net, int64_t rows, bool backward) {
    actor.Reserve(net.actor, rows, backward), critic.Reserve(net.critic, rows, backward);
    visions.resize(net.visions.size()), pixels.resize(net.visions.size());
    for (size_t i = 0; i < visions.size(); ++i) visions[i].Reserve(net.visions[i], rows, backward), pixels[i].resize(rows);
    if (net.sees()) inputs.resize(rows * net.inputs());
  }
  TowerWork<T> actor, critic;
  std::vector<VisionWork<T>> visions;
  std::vector<std::vector<const uint8_t*>> pixels;  // of each image, [rows]; the caller sets them
  std::vector<T> inputs;
};

// The towers' inputs [rows, net.inputs()]: features of the images at out->pixels, then obs [rows, net.obs]. Without images,
// obs.
template <class T>
const T* Inputs(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out) {
  if (!net.sees()) return obs;
  int64_t at = 0;
  const auto join = [&](const T* from, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * n, n, &out->inputs[r * net.inputs() + at]);
    at += n;
  };
  for (size_t i = 0; i < net.visions.size(); ++i) {
    VisionForward(net.visions[i], weights.visions[i], params, out->pixels[i].data(), rows, &out->visions[i]);
    join(out->visions[i].features.data(), net.visions[i].dense.out);
  }
  join(obs, net.obs);
  return out->inputs.data();
}

// Adds the gradients of the images' nets, for d [rows, net.inputs()] at the towers' inputs.
template <class T>
void InputsBackward(const Net& net, const PackedNet<T>& weights, const T* d, int64_t rows, Workspace<T>* work, T* gradient) {
  int64_t at = 0;
  for (size_t i = 0; i < net.visions.size(); ++i) {
    VisionWork<T>& vision = work->visions[i];
    const int64_t n = net.visions[i].dense.out;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(d + r * net.inputs() + at, n, &vision.d_features[r * n]);
    VisionBackward(net.visions[i], weights.visions[i], work->pixels[i].data(), rows, &vision, gradient);
    at += n;
  }
}

// Both heads for inputs [rows, net.inputs()].
template <class T>
void Forward(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out) {
  Forward(net.actor, weights.actor, params, obs, rows, &out->actor);
  Forward(net.critic, weights.critic, params, net.shared ? out->actor.latent : obs, rows, &out->critic);
}

}  // namespace backplane::ppo
