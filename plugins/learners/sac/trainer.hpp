// Gradient steps of SAC (Haarnoja et al., arXiv 1812.05905) with two critics and a learned temperature, in the order of
// Stable-Baselines3: critics, actor, temperature, target networks. Losses and gradients are fused on the CPU, or computed by
// LibTorch. T is float, or double for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net.hpp"
#include "off_policy/gradients.hpp"
#include "off_policy/twin_critics.hpp"
#include "temperature.hpp"

namespace backplane::sac {

struct TrainerOptions {
  double lr = 3e-4, critic_lr = 3e-4, alpha_lr = 3e-4, tau = 0.005;
  double grad_clip = 0;                // of the actor and of the critics together; 0: no limit
  int64_t target_update_interval = 1;  // in gradient steps
};

struct UpdateStats {
  double critic_loss, actor_loss, alpha, entropy, q;
};

using Part = TorchPart<ActorCriticGradients<float>, Net, TrainerOptions>;  // learner_sac_torch.so

template <class T>
class Trainer {
 public:
  using Part = sac::Part;

  // Starts with parameters 0. `hint` ends errors about numbers that are not finite.
  Trainer(const Net& net, const TrainerOptions& options, const Temperature& temperature, Parallel parallel,
          const std::string& hint);

  // Updates then use these gradients instead of the fused ones.
  void UseGradients(std::unique_ptr<ActorCriticGradients<T>> gradients) {
    gradients_ = std::move(gradients);
    critics_.LearnElsewhere();
  }

  // After changes of the parameters from outside; targets start as copies of the critics with `copy_targets`.
  void Refresh(bool copy_targets);

  // One gradient step of everything. `noise` and `next_noise` [n, actions] are standard normals for actions at obs and
  // next_obs. Throws bp::Error (BP_E_NUMERIC) if a number is not finite. The same bits for any `parallel`.
  UpdateStats Update(const Batch<T>& batch, const T* noise, const T* next_noise);
  // [n], of the last update: the mean distance of both critics from their target.
  const std::vector<T>& errors() const { return critics_.errors(); }

  const Net& net() const { return net_; }
  const TrainerOptions& options() const { return options_; }
  Optimizer<T>& actor() { return actor_; }
  const Optimizer<T>& actor() const { return actor_; }
  Optimizer<T>& critics() { return critics_.optimizer(); }
  const Optimizer<T>& critics() const { return critics_.optimizer(); }
  std::vector<T>& targets() { return critics_.targets(); }
  const std::vector<T>& targets() const { return critics_.targets(); }
  Temperature& temperature() { return temperature_; }
  const Temperature& temperature() const { return temperature_; }
  // Packed, for acting; valid until the next change.
  const PackedTower<T>& actor_weights() const { return actor_weights_; }
  uint64_t updates() const { return updates_; }
  void set_updates(uint64_t updates) { updates_ = updates; }

 private:
  // Actions of the current policy at the observations of a batch.
  struct Drawn {
    TowerWork<T> work;
    std::vector<T> action;  // [n, actions], in [-1, 1]
    std::vector<T> logp;    // [n]
  };
  void LearnFused(const Batch<T>& batch, const T* noise, const T* next_noise, UpdateStats* stats);
  void LearnByGradients(const Batch<T>& batch, const T* noise, const T* next_noise, UpdateStats* stats);
  void Draw(const T* obs, const T* noise, int64_t n, bool keep, Drawn* out);
  void Targets(const Batch<T>& batch);
  void ActorGradient(const Batch<T>& batch, const T* noise);
  void UpdateCritics(const Batch<T>& batch, UpdateStats* stats);
  void UpdateActor(const Batch<T>& batch, const T* noise, UpdateStats* stats);

  Net net_;
  TrainerOptions options_;
  Parallel parallel_;
  Temperature temperature_;
  Optimizer<T> actor_;
  TwinCritics<T> critics_;
  std::unique_ptr<ActorCriticGradients<T>> gradients_;  // NULL: fused
  PackedTower<T> actor_weights_;
  Drawn drawn_, next_;
  std::vector<T> y_, dq_;  // targets of the critics; dQ/da [n, actions]
  uint64_t updates_ = 0;
};

}  // namespace backplane::sac
