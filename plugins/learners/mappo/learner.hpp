// The MAPPO learner as the host sees it: acting, turning a rollout into samples, and the order of its minibatches.
#pragma once

#include <memory>

#include "actor.hpp"
#include "backplane/learner.hpp"
#include "options.hpp"
#include "rl/optimizer.hpp"
#include "torch_model.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {

class Learner : public bp::OnPolicy {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return horizon_; }
  uint64_t OnRollout(const bp::Delivery& delivery) override;
  void OnTick(uint64_t index) override;
  void Act(const bp_act& act) override { torch_actor_ ? torch_actor_->Act(act) : actor_.Act(act); }

  // Saving in the middle of an update gives the state as if the update had ended there; the next request after loading is a
  // new rollout.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  Learner(const bp::LearnerSetup& setup, const EnvShape& shape);
  void ChooseModel(const bp_env_spec* env);
  void Refresh();
  void DescribeSpec(const EnvShape& shape);
  int64_t Minibatches() const;
  void Returns();
  Minibatch NextMinibatch(int64_t part);
  LossOptions CurrentLoss() const;
  double CurrentLr() const;
  void EndUpdate();

  Options options_;
  EnvShape shape_;
  uint64_t rows_, seed_, horizon_;
  Net net_;
  rl::Optimizer<float> optimizer_;
  std::unique_ptr<Model> model_;
  TorchModel* torch_model_ = nullptr;  // model_, if it is one
  bool probe_amp_ = false;             // at the next minibatch
  Actor actor_;
  std::unique_ptr<TorchActor> torch_actor_;  // on a device; else actor_ acts
  Streams streams_;
  Batch batch_;
  ValueNorm value_norm_;
  rl::Scaling advantage_scaling_;  // of the iteration
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
  uint64_t epochs_done_ = 0;  // over the learner's life: keys the shuffles
};

}  // namespace backplane::mappo
