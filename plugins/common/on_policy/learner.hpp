// What PPO and MAPPO do alike with an iteration's samples: passes over them in a shuffled order, a gradient step per minibatch,
// and what is told of it.
#pragma once

#include "backplane/learner.hpp"
#include "on_policy/optimizer.hpp"
#include "on_policy/options.hpp"

namespace backplane::on_policy {

class Learner : public bp::OnPolicy {
 public:
  void OnTick(uint64_t index) override;

 protected:
  // `params`: how many; `hint`: what may help where numbers stop being finite.
  Learner(const bp::LearnerSetup& setup, int64_t params, const char* hint);

  virtual const Options& options() const = 0;
  virtual int64_t Minibatches() const = 0;       // of a pass
  virtual void Shuffle(uint64_t key) = 0;        // the samples into a new order
  virtual StepStats Gradient(int64_t part) = 0;  // of a minibatch in that order, into optimizer_.gradient()
  virtual StepOptions CurrentStep() const;       // without a schedule of the learning rate
  virtual void EndUpdate() = 0;                  // the state is finite

  uint64_t Ticks() const { return static_cast<uint64_t>(options().num_epochs * Minibatches()); }
  LossOptions CurrentLoss(double clip) const;

  uint64_t rows_, seed_;
  Parallel parallel_;  // on the host's threads
  Optimizer<float> optimizer_;
  bp::Metrics metrics_;
  uint64_t epochs_done_ = 0;  // over the learner's life: keys the shuffles
};

// Steps of every row that make `train_batch_size` steps of all.
inline uint64_t HorizonOf(int64_t train_batch_size, uint64_t rows) {
  return (static_cast<uint64_t>(train_batch_size) + rows - 1) / rows;
}

}  // namespace backplane::on_policy
