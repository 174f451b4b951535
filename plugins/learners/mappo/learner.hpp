// The MAPPO learner as the host sees it: acting, turning a rollout into samples, and the order of its minibatches.
#pragma once

#include <deque>

#include "group.hpp"
#include "on_policy/learner.hpp"
#include "state.hpp"

namespace backplane::mappo {

class Learner : public on_policy::Learner {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return horizon_; }
  uint64_t OnRollout(const bp::Delivery& delivery) override;
  void Act(const bp_act& act) override {
    for (const Group& group : groups_) group.Act(act);
  }

  // A state saved during an update is as if the update had ended there; after loading, the next request is a new rollout.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // The part of the state that Act reads.
  void SavePolicy(const bp::Writer& writer) const;
  void LoadPolicy(const bp::Reader& reader);
  std::string PolicyForm() const;
  void Tensors(bp::NamedTensors* out) const;

 private:
  Learner(const bp::LearnerSetup& setup, const Options& options, const std::vector<EnvShape>& shapes);
  Learner(const bp::LearnerSetup& setup, const Options& options, const std::vector<EnvShape>& shapes,
          const std::vector<Net>& nets);
  const on_policy::Options& options() const override { return options_; }
  int64_t Minibatches() const override;
  void Shuffle(uint64_t key) override {
    for (Group& group : groups_) group.batch.Shuffle(key, parallel_);
  }
  StepStats Gradient(int64_t part) override;
  StepOptions CurrentStep() const override;
  void EndUpdate() override { Refresh(); }
  void AllowSmallerParts(bool allowed) override {
    for (Group& group : groups_)
      if (group.torch_model) group.torch_model->AllowSmallerParts(allowed);
  }

  void DeclareMetrics();
  void ChooseModel(const bp_env_spec* env);
  void Refresh();
  // Adds a group's channels; `shape` has its declarations.
  void DescribeSpec(const EnvShape& shape, Group* group);
  void Returns(Group* group);
  Minibatch NextMinibatch(Group* group, Part range);
  StepStats Gradient(Group* group, Part range);
  int64_t ordered() const;  // samples or sequences of all groups
  bool has_groups() const { return !groups_.front().shape.group.empty(); }
  SavedShapes ShapesOfNets() const;

  Options options_;
  uint64_t horizon_;
  std::deque<Group> groups_;  // by number; without groups only one
  bp::LearnerSpec spec_;
  std::vector<std::string> inputs_, delivered_;  // of Act, and in a rollout
  size_t outputs_ = 0;                           // of Act
};

}  // namespace backplane::mappo
