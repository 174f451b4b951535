// The PPO learner as the host sees it: acting, turning a rollout into samples, and the order of its minibatches.
#pragma once

#include <string>
#include <vector>

#include "actor.hpp"
#include "batch.hpp"
#include "kl_adaptive_rate.hpp"
#include "normalizer.hpp"
#include "on_policy/amp.hpp"
#include "on_policy/learner.hpp"
#include "on_policy/parts.hpp"
#include "options.hpp"

namespace backplane::ppo {

class Learner : public on_policy::Learner {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return HorizonOf(options_.train_batch_size, rows_); }
  uint64_t OnRollout(const bp::Delivery& delivery) override;
  void Act(const bp_act& act) override { actor_.Act(act); }

  // A state saved during an update is as if the update had ended there; after loading, the next request is a new rollout.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // The part of the state that Act reads.
  void SavePolicy(const bp::Writer& writer) const;
  void LoadPolicy(const bp::Reader& reader);
  // Also rejects a policy whose observations were normalized, or were not, unlike here.
  void StartPolicy(const bp::Reader& reader);
  std::string PolicyForm() const { return policy_form_; }
  void Tensors(bp::NamedTensors* out) const;

 private:
  struct Moments {
    double count = 0;
    std::vector<double> mean, m2;
    // Welford's method.
    void Add(const float* x) {
      ++count;
      for (size_t i = 0; i < mean.size(); ++i) {
        const double delta = x[i] - mean[i];
        mean[i] += delta / count, m2[i] += delta * (x[i] - mean[i]);
      }
    }
  };

  Learner(const bp::LearnerSetup& setup, const Options& options);
  Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape);
  Learner(const bp::LearnerSetup& setup, const Options& options, const EnvShape& shape, const Net& net);
  const on_policy::Options& options() const override { return options_; }
  int64_t Minibatches() const override {
    const int64_t each =
        options_.memory.size > 0 ? options_.minibatch_size / options_.memory.sequence : options_.minibatch_size;
    return PartsOfAtMost(each, batch_.ordered());
  }
  void Shuffle(uint64_t key) override { batch_.Shuffle(key, parallel_); }
  StepStats Gradient(int64_t part) override;
  StepOptions CurrentStep() const override;
  void EndUpdate() override;
  void AllowSmallerParts(bool allowed) override { gradient_->AllowSmallerParts(allowed); }

  void DescribeSpec(const EnvShape& shape);
  void DescribePolicy(const EnvShape& shape);
  void TakeMoments(const bp::Delivery& delivery, int64_t steps);
  void Advantages(const bp::Delivery& delivery, int64_t steps);
  std::vector<float> NextValues(const bp::Delivery& delivery, int64_t steps);
  const ObsNormalizer* obs_norm() const { return options_.normalize_obs ? &obs_norm_ : nullptr; }

  std::unique_ptr<ppo::Gradient<float>> MakeGradient();

  Options options_;
  std::vector<ObsChannel> obs_channels_;
  std::string policy_form_;
  Net net_;
  on_policy::UpdateDevice update_;
  std::unique_ptr<ppo::Gradient<float>> gradient_;
  ObsNormalizer obs_norm_;
  RewardNormalizer reward_norm_;
  Actor actor_;
  Batch batch_;
  bp::LearnerSpec spec_;
  KlAdaptiveRate adaptive_rate_;

  Moments moments_;  // of the current rollout, merged when its update ends
};

}  // namespace backplane::ppo
