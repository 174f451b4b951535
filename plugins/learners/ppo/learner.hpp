// The PPO learner as the host sees it: acting, turning a rollout into a batch, and the order of its minibatches.
#pragma once

#include <string>
#include <vector>

#include "backplane/learner.hpp"
#include "mlp.hpp"
#include "normalizer.hpp"
#include "ppo.hpp"

namespace backplane::ppo {

enum class Schedule { kConstant, kLinear, kKlAdaptive };

struct Options {
  explicit Options(const bp::Config& config);
  int64_t train_batch_size, minibatch_size, num_epochs;
  double lr, gamma, lambda, clip, vf_clip_param, entropy_coeff, vf_coeff, grad_clip, kl_target, log_std_init;
  bool vf_clip, normalize_advantages, normalize_obs, normalize_rewards, ortho_init;
  Schedule lr_schedule;
  bool clip_linear;
  std::vector<int64_t> hidden;
  Activation activation;
};

// What the learner needs to know of the env.
struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);
  std::string obs_name, action_name, mask_name;  // mask_name empty: no mask
  int64_t obs, actions;
  bool discrete;
  bp_channel action;               // borrowed, for the constructor only
  std::vector<float> low, high;    // per element, infinite where there is no bound
};

class Learner : public bp::OnPolicy {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override;
  uint64_t OnRollout(const bp::Delivery& delivery) override;
  void OnTick(uint64_t index) override;
  void Act(const bp_act& act) override;

  // Saving in the middle of an update gives the state as if the update had ended there; the next request after loading is a
  // new rollout.
  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);

 private:
  // One iteration's samples, flattened to t * rows + row; kept between iterations to keep their memory.
  struct Batch {
    int64_t n = 0;
    std::vector<float> obs, action, logp, advantage, ret, value;
    std::vector<int64_t> choice;
    std::vector<uint8_t> mask;
  };
  struct Moments {
    double count = 0;
    std::vector<double> mean, m2;
  };

  void DescribeSpec(const EnvShape& shape);
  void ActRow(const bp_act& act, int64_t row, const float* head, float value);
  void Normalize(const float* in, float* out) const;
  void Values(int64_t n, const float* obs, float* out);  // obs [n, obs], already normalised
  void CopySteps(const bp::Delivery& delivery);
  void Advantages(const bp::Delivery& delivery, int64_t steps);
  std::vector<float> NextValues(const bp::Delivery& delivery, int64_t steps);
  void KeepMoments(const bp::Delivery& delivery);
  void Shuffle();
  Minibatch<float> Gather(int64_t begin, int64_t end);
  LossOptions CurrentLoss() const;
  double CurrentLr() const;
  void Report(const StepStats& stats);
  void EndUpdate();

  Options options_;
  uint64_t rows_, seed_;
  std::string obs_name_, action_name_, mask_name_;
  std::vector<float> low_, high_;
  Net net_;
  PpoUpdate<float> update_;
  ObsNormalizer obs_norm_;
  RewardNormalizer reward_norm_;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
  double adaptive_lr_;
  uint64_t epochs_done_ = 0;  // over the learner's life: keys the shuffles

  Batch batch_, minibatch_;
  Moments moments_;  // of the current rollout, merged when its update ends
  std::vector<int64_t> order_;
  double kl_sum_ = 0;
  uint64_t kl_count_ = 0;
  Scratch scratch_;
  std::vector<float> padded_;
};

}  // namespace backplane::ppo
