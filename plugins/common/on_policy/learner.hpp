// The update loop shared by PPO and MAPPO: passes over the shuffled samples of an iteration, a gradient step per minibatch, and
// metrics.
#pragma once

#include <optional>

#include "backplane/learner.hpp"
#include "on_policy/optimizer.hpp"
#include "on_policy/options.hpp"
#include "on_policy/torch_memory.hpp"
#include "rl/loss_scaler.hpp"

namespace backplane::on_policy {

class Learner : public bp::OnPolicy {
 public:
  void OnTick(uint64_t index) override;
  void OnLimits(const bp_limits& limits) override;
  bp_device_use DeviceUse() const { return memory_.Use(); }
  void ResetPeak() { memory_.ResetPeak(); }

 protected:
  // `params`: their number; `hint`: advice in the error about numbers that are not finite.
  Learner(const bp::LearnerSetup& setup, int64_t params, const char* hint);

  virtual const Options& options() const = 0;
  virtual int64_t Minibatches() const = 0;             // per pass
  virtual void Shuffle(uint64_t key) = 0;              // shuffles the samples
  virtual StepStats Gradient(int64_t part) = 0;        // for a minibatch in that order, into optimizer_.gradient()
  virtual StepOptions CurrentStep() const;             // without a schedule of the learning rate
  virtual void EndUpdate() = 0;                        // called with a finite state
  virtual void AllowSmallerParts(bool /*allowed*/) {}  // of a minibatch that does not fit into the device's memory

  // Updates by LibTorch, whose memory is metered; in float16 with a scaled loss. Call it in the constructor.
  void UseTorch(const torch_common::Memory& memory, bp_device device, Amp amp);
  // The last part of a saved state, only in float16. A state without it, of a stage before, keeps the initial scale.
  void SaveScale(const bp::Writer& writer) const;
  void LoadScale(const bp::Reader& reader);

  uint64_t Ticks() const { return static_cast<uint64_t>(options().num_epochs * Minibatches()); }
  LossOptions CurrentLoss(double clip) const;

  uint64_t rows_, seed_;
  Parallel parallel_;  // on the host's threads
  Optimizer<float> optimizer_;
  bp::Metrics metrics_;
  std::optional<rl::LossScaler> scaler_;  // in float16
  TorchMemory memory_;
  uint64_t epochs_done_ = 0;  // over the learner's life; keys of the shuffles
};

// Steps per row that give `train_batch_size` steps over all rows.
inline uint64_t HorizonOf(int64_t train_batch_size, uint64_t rows) {
  return (static_cast<uint64_t>(train_batch_size) + rows - 1) / rows;
}

}  // namespace backplane::on_policy
