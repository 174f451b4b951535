// The SAC learner as the host sees it: acting, the replay buffer, and batches for the trainer.
#pragma once

#include <string>
#include <vector>

#include "actor.hpp"
#include "backplane/off_policy.hpp"
#include "options.hpp"
#include "replay/sampler.hpp"
#include "state.hpp"
#include "trainer.hpp"

namespace backplane::sac {

class Learner : public bp::OffPolicy {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  void OnPart(const bp::Delivery& part) override;
  bool OnUpdate() override;
  void OnIteration(uint64_t updates) override;
  void Act(const bp_act& act) override {
    actor_.Act(act, trainer_.actor_weights(), trainer_.actor().params(), ActsRandomly(act));
  }

  // The complete state, except the content of the replay buffer, which is a file of the trial.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // The nets and log alpha, without optimisers and buffer.
  void SavePolicy(const bp::Writer& writer) const;
  void LoadPolicy(const bp::Reader& reader);
  // The loaded policy acts from the first step.
  void StartPolicy(const bp::Reader& reader);
  std::string PolicyForm() const { return policy_form_; }
  void Tensors(bp::NamedTensors* out) const;

 private:
  Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape);
  void DescribeSpec(const rl::EnvShape& shape);
  void DescribePolicy(const rl::EnvShape& shape);
  // The loaded policy acts from the first step, with an empty ring.
  void BeginEmpty();
  void FillBatch();

  Options options_;
  uint64_t seed_;
  bool obs_are_bytes_;
  Trainer<float> trainer_;
  Actor actor_;
  bp::Replay replay_;
  replay::Sampler sampler_;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
  std::string policy_form_;

  // Buffers of a gradient step.
  std::vector<replay::Start> starts_;
  Batch<float> batch_;
  std::vector<float> noise_, next_noise_;
};

}  // namespace backplane::sac
