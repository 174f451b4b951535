// The PPO learner as the host sees it: acting, turning a rollout into samples, and the order of its minibatches.
#pragma once

#include <string>
#include <vector>

#include "actor.hpp"
#include "backplane/learner.hpp"
#include "batch.hpp"
#include "normalizer.hpp"
#include "options.hpp"
#include "update.hpp"

namespace backplane::ppo {

class Learner : public bp::OnPolicy {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override;
  uint64_t OnRollout(const bp::Delivery& delivery) override;
  void OnTick(uint64_t index) override;
  void Act(const bp_act& act) override { actor_.Act(act); }

  // Saving in the middle of an update gives the state as if the update had ended there; the next request after loading is a
  // new rollout.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  struct Moments {
    double count = 0;
    std::vector<double> mean, m2;
  };

  Learner(const bp::LearnerSetup& setup, const EnvShape& shape);
  std::unique_ptr<Gradient<float>> MakeGradient() const;
  void DescribeSpec(const EnvShape& shape);
  void Advantages(const bp::Delivery& delivery, int64_t steps);
  std::vector<float> NextValues(const bp::Delivery& delivery, int64_t steps);
  void KeepMoments(const bp::Delivery& delivery);
  int64_t Minibatches() const;
  LossOptions CurrentLoss() const;
  double CurrentLr() const;
  void EndUpdate();
  const ObsNormalizer* obs_norm() const { return options_.normalize_obs ? &obs_norm_ : nullptr; }

  Options options_;
  uint64_t rows_, seed_;
  std::string obs_name_;
  Net net_;
  PpoUpdate<float> update_;
  ObsNormalizer obs_norm_;
  RewardNormalizer reward_norm_;
  Actor actor_;
  Batch batch_;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
  double adaptive_lr_;
  uint64_t epochs_done_ = 0;  // over the learner's life: keys the shuffles

  Moments moments_;  // of the current rollout, merged when its update ends
  double kl_sum_ = 0;
  uint64_t kl_count_ = 0;
};

}  // namespace backplane::ppo
