// The MAPPO learner as the host sees it: acting, turning a rollout into samples, and the order of its minibatches.
#pragma once

#include <memory>

#include "actor.hpp"
#include "on_policy/learner.hpp"
#include "options.hpp"
#include "torch_model.hpp"
#include "value_norm.hpp"

namespace backplane::mappo {

class Learner : public on_policy::Learner {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return horizon_; }
  uint64_t OnRollout(const bp::Delivery& delivery) override;
  void Act(const bp_act& act) override { torch_actor_ ? torch_actor_->Act(act) : actor_.Act(act); }

  // A state saved during an update is as if the update had ended there; after loading, the next request is a new rollout.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // The part of the state that Act reads.
  void SavePolicy(const bp::Writer& writer) const;
  void LoadPolicy(const bp::Reader& reader);
  std::string PolicyForm() const;
  void Tensors(bp::NamedTensors* out) const;

 private:
  Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape);
  Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape, const Net& net);
  const on_policy::Options& options() const override { return options_; }
  int64_t Minibatches() const override;
  void Shuffle(uint64_t key) override { batch_.Shuffle(key, parallel_); }
  StepStats Gradient(int64_t part) override;
  StepOptions CurrentStep() const override;
  void EndUpdate() override { Refresh(); }
  void AllowSmallerParts(bool allowed) override {
    if (torch_model_) torch_model_->AllowSmallerParts(allowed);
  }

  void ChooseModel(const bp_env_spec* env);
  void Refresh();
  void DescribeSpec(const EnvShape& shape);
  void Returns();
  Minibatch NextMinibatch(int64_t part);

  Options options_;
  EnvShape shape_;
  uint64_t horizon_;
  Net net_;
  std::unique_ptr<Model> model_;
  TorchModel* torch_model_ = nullptr;  // model_, if it is one
  bool probe_amp_ = false;             // at the next minibatch
  Actor actor_;
  std::unique_ptr<TorchActor> torch_actor_;  // on a device; else actor_ acts
  Streams streams_;
  Batch batch_;
  ValueNorm value_norm_;
  Scaling advantage_scaling_;  // of the iteration
  bp::LearnerSpec spec_;
};

}  // namespace backplane::mappo
