// PPO's networks over one flat parameter buffer: the actor, the critic, the logarithms of the deviations.
#pragma once

#include <cstdint>
#include <vector>

#include "on_policy/distributions.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/tower.hpp"

namespace backplane::ppo {

using namespace on_policy;  // PPO builds on it

struct NetShape {
  int64_t obs, actions;
  bool discrete = false;
  std::vector<int64_t> hidden, vf_hidden;  // of the actor; of the critic
  bool shared = false;                     // one trunk (`hidden`) for both heads
  Activation activation = Activation::kTanh;
  bool sde = false;                  // state-dependent noise: one deviation per latent and action
  int64_t memory = 0;                // size of the state of each net's memory; 0: none
  Distributions distributions = {};  // of the action; empty: one choice of `actions`, or as many Gaussian numbers
};

struct Net {
  explicit Net(const NetShape& shape);
  int64_t latent() const { return actor.latent(); }
  int64_t log_stds() const { return sde ? latent() * actions : action.numbers; }
  // Numbers of a row's memory: the actor's state, then the critic's if it has its own.
  int64_t carry() const { return actor.memory.size + critic.memory.size; }

  int64_t obs, actions;  // actions: outputs of the actor
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
  }
  // Packs for gradients too, on several threads.
  void Pack(const Net& net, const T* params, const Parallel& parallel) {
    actor.Reserve(net.actor), critic.Reserve(net.critic);
    const int64_t of_actor = actor.Pieces(net.actor);
    const auto pack = [&](uint64_t raw) {
      const auto piece = static_cast<int64_t>(raw);
      piece < of_actor ? actor.PackPiece(net.actor, params, piece) : critic.PackPiece(net.critic, params, piece - of_actor);
    };
    ForPieces(parallel, of_actor + critic.Pieces(net.critic), net.size, pack);
  }
  PackedTower<T> actor, critic;
};

// One thread's buffers for a block of rows.
template <class T>
struct Workspace {
  void Reserve(const Net& net, int64_t rows, bool backward) {
    actor.Reserve(net.actor, rows, backward), critic.Reserve(net.critic, rows, backward);
  }
  TowerWork<T> actor, critic;
};

// Both heads for obs [rows, net.obs].
template <class T>
void Forward(const Net& net, const PackedNet<T>& weights, const T* params, const T* obs, int64_t rows, Workspace<T>* out) {
  Forward(net.actor, weights.actor, params, obs, rows, &out->actor);
  Forward(net.critic, weights.critic, params, net.shared ? out->actor.latent : obs, rows, &out->critic);
}

}  // namespace backplane::ppo
