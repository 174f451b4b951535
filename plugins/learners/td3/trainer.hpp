// Gradient steps of TD3 (Fujimoto et al., arXiv 1802.09477), in the order of Stable-Baselines3: critics; in each
// policy_delay-th step then the actor and all target networks. Losses and gradients are fused on the CPU, or computed by
// LibTorch. T is float, or double for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net.hpp"
#include "off_policy/gradients.hpp"
#include "off_policy/twin_critics.hpp"

namespace backplane::td3 {

struct TrainerOptions {
  double lr = 1e-3, critic_lr = 1e-3, tau = 0.005;
  double grad_clip = 0;  // of the actor and of the critics together; 0: no limit
  double target_noise = 0.2, target_noise_clip = 0.5;
  int64_t policy_delay = 2;  // in gradient steps
};

struct UpdateStats {
  double critic_loss, q;
  bool actor_stepped;
  double actor_loss;  // of the actor's step
};

using Part = TorchPart<ActorCriticGradients<float>, Net, TrainerOptions>;  // learner_td3_torch.so

template <class T>
class Trainer {
 public:
  using Part = td3::Part;

  // Starts with parameters 0. `hint` ends errors about numbers that are not finite.
  Trainer(const Net& net, const TrainerOptions& options, const Parallel& parallel, const std::string& hint);

  // Updates then use these gradients instead of the fused ones.
  void UseGradients(std::unique_ptr<ActorCriticGradients<T>> gradients) {
    gradients_ = std::move(gradients);
    critics_.LearnElsewhere();
  }

  // After changes of the parameters from outside; targets start as copies with `copy_targets`.
  void Refresh(bool copy_targets);
  // The actor's target becomes a copy of the actor. Refresh has to follow.
  void CopyActorTarget();

  // One gradient step. `noise` [n, actions] are standard normals for the target actions at next_obs. Throws bp::Error
  // (BP_E_NUMERIC) if a number is not finite. The same bits for any `parallel`.
  UpdateStats Update(const Batch<T>& batch, const T* noise);
  // [n], of the last update: the mean distance of both critics from their target.
  const std::vector<T>& errors() const { return critics_.errors(); }

  const Net& net() const { return net_; }
  const TrainerOptions& options() const { return options_; }
  Optimizer<T>& actor() { return actor_; }
  const Optimizer<T>& actor() const { return actor_; }
  Optimizer<T>& critics() { return critics_.optimizer(); }
  const Optimizer<T>& critics() const { return critics_.optimizer(); }
  std::vector<T>& actor_target() { return actor_target_; }
  const std::vector<T>& actor_target() const { return actor_target_; }
  std::vector<T>& targets() { return critics_.targets(); }
  const std::vector<T>& targets() const { return critics_.targets(); }
  // Packed, for acting; valid until the next change.
  const PackedTower<T>& actor_weights() const { return actor_weights_; }
  uint64_t updates() const { return updates_; }
  void set_updates(uint64_t updates) { updates_ = updates; }

 private:
  struct Chosen {
    TowerWork<T> work;
    std::vector<T> action;  // [n, actions], in [-1, 1]
  };

  void LearnFused(const Batch<T>& batch, const T* noise, UpdateStats* stats);
  void LearnByGradients(const Batch<T>& batch, const T* noise, UpdateStats* stats);
  void ChooseNext(const Batch<T>& batch, const T* noise);
  void ChoosePresent(const Batch<T>& batch);
  void UpdateActor(const Batch<T>& batch, UpdateStats* stats);

  Net net_;
  TrainerOptions options_;
  Parallel parallel_;
  Optimizer<T> actor_;
  TwinCritics<T> critics_;
  std::unique_ptr<ActorCriticGradients<T>> gradients_;  // NULL: fused
  std::vector<T> actor_target_;
  PackedTower<T> actor_weights_, actor_target_weights_;
  Chosen present_, next_;
  std::vector<T> y_, dq_;  // targets of the critics; dQ/da [n, actions]
  uint64_t updates_ = 0;
};

}  // namespace backplane::td3
