// A learner with a replay buffer on an artificial env, driven through its function table in parts of rollouts: random
// observations, rewards and masks, rows that terminate and rows that are truncated, the learner's own actions. The env has
// discrete actions for learner.dqn, else a box.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backplane/rng.h"
#include "driven_learner.hpp"

namespace backplane::test_support {

class ReplayTrial : public DrivenLearner {
 public:
  static constexpr int64_t kObs = 4, kActions = 3;
  static constexpr uint64_t kSeed = 11;

  struct World {
    double bound = 2;     // of the env's actions in a box
    double ends = .2;     // share of steps that end an episode
    bool masked = false;  // discrete: some choices are forbidden
  };
  explicit ReplayTrial(std::map<std::string, std::string> options, int64_t rows = 2)
      : ReplayTrial(std::move(options), rows, {}) {}
  ReplayTrial(std::map<std::string, std::string> options, int64_t rows, const World& world)
      : DrivenLearner(std::move(options)), rows_(rows), world_(world), obs_(static_cast<size_t>(rows * kObs)) {
    Again();
    Draw(&obs_);
  }

  static std::string Learner() { return bp_module_v1()->descriptor(0)->id; }
  static bool Discrete() { return Learner() == "learner.dqn"; }
  // Numbers that the learner stores for an action.
  int64_t width() const { return !Discrete() ? kActions : world_.masked ? 1 + kActions : 1; }

  // A new instance, with the same files.
  void Again() {
    const double low = -world_.bound, high = world_.bound;
    const int64_t size = kObs, actions = kActions;
    const bp_dtype f32 = bp::DtypeOf<float>();
    std::vector<bp_channel> channels = {
        {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, f32, "obs", &size},
        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, f32, "reward"},
        {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1, f32, "action", &actions, &low, &high, nullptr, 1}};
    if (Discrete()) {
      bp_channel& action = channels.back() = {sizeof(bp_channel),     BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0,
                                              bp::DtypeOf<int32_t>(), "action"};
      action.nvec = &actions;
      if (world_.masked)
        channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION_MASK, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<uint8_t>(),
                            "action_mask", &actions});
    }
    Create({sizeof(bp_env_spec), 1, channels.data(), channels.size(), 50, {BP_DEVICE_CPU, 0}}, rows_, kSeed);
  }

  // One iteration of the learner's request, at most `most` frames of it (as a budget would cut it).
  bp_status Iterate(int64_t most = 1 << 30, double progress = 0) {
    const bp_request request = Plan(progress);
    EXPECT_EQ(request.kind, BP_REQ_ROLLOUT);
    const int64_t horizon = std::min(static_cast<int64_t>(request.u.rollout.horizon), most);
    const auto part = static_cast<int64_t>(request.u.rollout.part);
    const auto count = static_cast<uint32_t>((horizon + part - 1) / part);
    for (uint32_t index = 0; index < count; ++index) {
      const bp_status status = Part(std::min(part, horizon - index * part), index, count);
      if (status != BP_OK) return status;
    }
    return BP_OK;
  }

  // The env's actions for the present observations, without noise.
  std::vector<float> Greedy(uint64_t seed, uint64_t step) {
    Buffer<float> obs({rows_, kObs}), box({rows_, kActions}), kept({rows_, width()});
    Buffer<int32_t> choice({rows_});
    Buffer<uint8_t> mask({rows_, kActions});
    std::copy(obs_.begin(), obs_.end(), obs.data.begin());
    mask.data = Mask();
    bp_tensor *ins[] = {&obs.tensor, &mask.tensor}, *outs[] = {Discrete() ? &choice.tensor : &box.tensor, &kept.tensor};
    EXPECT_EQ(Act({sizeof(bp_act), BP_ACT_GREEDY, 0, static_cast<uint64_t>(rows_), 0, seed, step, ins, outs}), BP_OK)
        << error();
    return Discrete() ? std::vector<float>(choice.data.begin(), choice.data.end()) : box.data;
  }

  // All transitions, frame by frame; rows follow each other.
  struct Stored {
    std::vector<float> obs, action, next_obs, reward;  // action: as stored, [width()]
    std::vector<uint8_t> terminated, truncated, mask;  // mask: of the step's choices
  };
  const Stored& stored() const { return stored_; }
  const std::vector<float>& env_actions() const { return env_actions_; }
  int64_t rows() const { return rows_; }
  uint64_t steps() const { return step_; }
  double reward_scale = 1;
  bool forbids_all = false;  // choices

 private:
  void Draw(std::vector<float>* out) {
    for (float& x : *out) x = static_cast<float>(bp_rng_normal(&rng_));
  }

  // A function of the observations: a number above 0.5 forbids its choice, but never the last one.
  std::vector<uint8_t> Mask() const {
    std::vector<uint8_t> mask;
    for (int64_t row = 0; row < rows_; ++row)
      for (int64_t k = 0; k < kActions; ++k) mask.push_back(!forbids_all && (k + 1 == kActions || obs_[row * kObs + k] <= .5f));
    return mask;
  }

  bp_status Part(int64_t steps, uint32_t index, uint32_t count) {
    Buffer<float> obs({steps + 1, rows_, kObs}), reward({steps, rows_}), box({steps, rows_, kActions}),
        kept({steps, rows_, width()}), final_obs({steps * rows_, kObs});
    Buffer<int32_t> choice({steps, rows_});
    Buffer<uint8_t> terminated({steps, rows_}), truncated({steps, rows_}), mask({steps + 1, rows_, kActions});
    Buffer<int64_t> final_index({steps * rows_});
    int64_t ended = 0;
    for (int64_t t = 0; t < steps; ++t) {
      std::copy(obs_.begin(), obs_.end(), &obs.data[t * rows_ * kObs]);
      const std::vector<uint8_t> allowed = Mask();
      std::copy(allowed.begin(), allowed.end(), &mask.data[t * rows_ * kActions]);
      stored_.mask.insert(stored_.mask.end(), allowed.begin(), allowed.end());
      bp_tensor in[] = {obs.Entry(t), mask.Entry(t)}, out[] = {Discrete() ? choice.Entry(t) : box.Entry(t), kept.Entry(t)};
      bp_tensor *ins[] = {&in[0], &in[1]}, *outs[] = {&out[0], &out[1]};
      const bp_act act{sizeof(bp_act), BP_ACT_EXPLORE, 0, static_cast<uint64_t>(rows_), 0, 7, step_++, ins, outs};
      if (const bp_status status = Act(act); status != BP_OK) return status;
      stored_.obs.insert(stored_.obs.end(), obs_.begin(), obs_.end());
      Draw(&obs_);
      for (int64_t row = 0; row < rows_; ++row) {
        const int64_t i = t * rows_ + row;
        const double draw = bp_rng_uniform(&rng_);
        reward.data[i] = static_cast<float>(reward_scale * bp_rng_normal(&rng_));
        terminated.data[i] = draw<world_.ends / 2, truncated.data[i] = draw> 1 - world_.ends / 2;
        float* const next = &obs_[row * kObs];
        stored_.next_obs.insert(stored_.next_obs.end(), next, next + kObs);
        if (!terminated.data[i] && !truncated.data[i]) continue;
        std::copy_n(next, kObs, &final_obs.data[ended * kObs]);
        final_index.data[ended++] = i;
        for (int64_t k = 0; k < kObs; ++k) next[k] = static_cast<float>(bp_rng_normal(&rng_));  // the next episode's first
      }
    }
    std::copy(obs_.begin(), obs_.end(), &obs.data[steps * rows_ * kObs]);
    final_index.shape[0] = final_obs.shape[0] = ended;
    const auto keep = [](const auto& buffer, auto* out) { out->insert(out->end(), buffer.data.begin(), buffer.data.end()); };
    keep(kept, &stored_.action), keep(reward, &stored_.reward);
    Discrete() ? keep(choice, &env_actions_) : keep(box, &env_actions_);
    keep(terminated, &stored_.terminated), keep(truncated, &stored_.truncated);
    const char* names[] = {"obs", "reward", spec().act_out[1].name, "terminated", "truncated", "final_obs", "final_index"};
    bp_tensor* tensors[] = {&obs.tensor,       &reward.tensor,    &kept.tensor,       &terminated.tensor,
                            &truncated.tensor, &final_obs.tensor, &final_index.tensor};
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_ROLLOUT, index, count};
    delivery.n_tensors = std::size(names), delivery.names = names, delivery.tensors = tensors;
    return Consume(delivery);
  }

  int64_t rows_;
  World world_;
  bp_rng rng_{5, 0};
  uint64_t step_ = 0;
  std::vector<float> obs_, env_actions_;
  Stored stored_;
};

}  // namespace backplane::test_support
