// Rollouts with two groups of agents, as a host delivers them: "pair", two agents that choose with a mask, and "solo", one
// agent that sets numbers. They see different observations and one state.
#pragma once

#include <string>
#include <vector>

#include "agents.hpp"

namespace backplane::test_support {

// The channels of one group in a rollout.
struct GroupBuffers {
  GroupBuffers(int64_t steps, int64_t agents, int64_t n_obs, int64_t n_actions, int64_t memory)
      : obs({steps + 1, agents, n_obs}),
        action_logp({steps, agents}),
        raw({steps, agents, n_actions}),
        numbers({steps, agents, n_actions}),
        choice({steps, agents}),
        mask({steps + 1, agents, n_actions}),
        final_obs({steps * agents, n_obs}),
        carry({steps + 1, agents, memory}) {}
  Buffer<float> obs, action_logp, raw, numbers;
  Buffer<int32_t> choice;
  Buffer<uint8_t> mask;
  Buffer<float> final_obs, carry;
};

class GroupedRollout {
 public:
  static constexpr int64_t kPair = 2, kSolo = 1, kPairObs = 5, kSoloObs = 8, kChoices = 3, kNumbers = 2;

  explicit GroupedRollout(int64_t memory_size = 0)
      : whole_({.agents = kPair + kSolo, .has_mask = false}),
        memory_(memory_size),
        pair(whole_.shape.steps, whole_.shape.rows * kPair, kPairObs, kChoices, memory_size),
        solo(whole_.shape.steps, whole_.shape.rows * kSolo, kSoloObs, kNumbers, memory_size) {
    Declare();
  }
  GroupedRollout(const GroupedRollout&) = delete;

  void Fill(uint64_t seed) {
    whole_.Fill(seed);
    for (float& x : whole_.reward.data) x = 20 * x + 10;  // reward_scale is small
    bp_rng rng{seed, 1 << 20};
    for (auto* each : {&pair.obs, &pair.final_obs, &solo.obs, &solo.final_obs})
      for (float& x : each->data) x = static_cast<float>(bp_rng_normal(&rng));
    for (uint8_t& m : pair.mask.data) m = bp_rng_uniform(&rng) < .7;
    for (size_t i = 0; i < pair.mask.data.size(); i += kChoices) pair.mask.data[i] = 1;
    for (GroupBuffers* group : {&pair, &solo}) {
      const auto entry = static_cast<int64_t>(group->carry.data.size()) / (whole_.shape.steps + 1);
      std::copy_n(group->carry.data.end() - entry, entry, group->carry.data.begin());
    }
  }

  // Inputs and outputs of `act` at a step, in the learner's order: group by group.
  std::vector<bp_tensor> In(int64_t t) {
    std::vector<bp_tensor> in = {pair.obs.Entry(t), pair.mask.Entry(t), whole_.alive.Entry(t)};
    if (memory_ > 0) in.push_back(pair.carry.Entry(t));
    in.push_back(solo.obs.Entry(t)), in.push_back(whole_.alive.Entry(t));
    if (memory_ > 0) in.push_back(solo.carry.Entry(t));
    return in;
  }
  std::vector<bp_tensor> Out(int64_t t) {
    std::vector<bp_tensor> out = {pair.choice.Entry(t), pair.action_logp.Entry(t)};
    if (memory_ > 0) out.push_back(pair.carry.Entry(t + 1));
    out.push_back(solo.numbers.Entry(t)), out.push_back(solo.action_logp.Entry(t)), out.push_back(solo.raw.Entry(t));
    if (memory_ > 0) out.push_back(solo.carry.Entry(t + 1));
    return out;
  }
  // As the host does, the next episode starts with zeros.
  void ClearMemory(int64_t t) {
    for (int64_t row = 0; row < shape().rows; ++row) {
      const int64_t i = t * shape().rows + row;
      if (!whole_.terminated.data[i] && !whole_.truncated.data[i]) continue;
      for (const auto& [group, agents] : {std::pair{&pair, kPair}, std::pair{&solo, kSolo}}) {
        const int64_t n = agents * memory_, entry = shape().rows * n;
        std::fill_n(group->carry.data.begin() + (t + 1) * entry + row * n, n, 0.f);
      }
    }
  }

  bp::Delivery delivery() {
    const bp::Delivery plain = whole_.delivery();
    names_.clear(), tensors_.clear();
    const auto add = [&](const char* name, bp_tensor* tensor) { names_.push_back(name), tensors_.push_back(tensor); };
    for (const char* name :
         {"reward", "terminated", "truncated", "final_index", "state", "final_state", "alive", "agent_ended"})
      add(name, const_cast<bp_tensor*>(plain.Find(name)));
    const int64_t ends = plain.Find("final_index")->shape[0];
    pair.final_obs.shape[0] = ends * kPair, solo.final_obs.shape[0] = ends * kSolo;
    add("pair/obs", &pair.obs.tensor), add("final_obs", &pair.final_obs.tensor);
    add("pair/action", &pair.choice.tensor), add("pair/action_mask", &pair.mask.tensor);
    add("pair/logp", &pair.action_logp.tensor);
    add("solo/obs", &solo.obs.tensor), add("final_solo/obs", &solo.final_obs.tensor);
    add("solo/raw_action", &solo.raw.tensor), add("solo/logp", &solo.action_logp.tensor);
    if (memory_ > 0) add("pair/memory", &pair.carry.tensor), add("solo/memory", &solo.carry.tensor);
    raw_ = {sizeof(bp_delivery), BP_REQ_ROLLOUT};
    raw_.n_tensors = names_.size(), raw_.names = names_.data(), raw_.tensors = tensors_.data();
    return bp::Delivery(&raw_);
  }
  const AgentShape& shape() const { return whole_.shape; }

 private:
  void Declare() {
    const bp_dtype f32 = bp::DtypeOf<float>(), u8 = bp::DtypeOf<uint8_t>();
    const auto add = [&](uint16_t role, uint16_t space, uint16_t scope, bp_dtype type, const char* name, const int64_t* size,
                         uint32_t group) {
      channels_.push_back({sizeof(bp_channel), role, space, scope, static_cast<uint16_t>(size ? 1 : 0), type, name, size});
      channels_.back().group = group;
    };
    const uint16_t agent = BP_SCOPE_AGENT;
    add(BP_ROLE_OBS, BP_SPACE_BOX, agent, f32, "pair/obs", &kPairObs, 1);
    add(BP_ROLE_ACTION, BP_SPACE_DISCRETE, agent, bp::DtypeOf<int32_t>(), "pair/action", nullptr, 1);
    channels_.back().nvec = &kChoices;
    add(BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, agent, u8, "pair/action_mask", &kChoices, 1);
    add(BP_ROLE_OBS, BP_SPACE_BOX, agent, f32, "solo/obs", &kSoloObs, 2);
    add(BP_ROLE_ACTION, BP_SPACE_BOX, agent, f32, "solo/action", &kNumbers, 2);
    channels_.back().low = &AgentEnv::kLow, channels_.back().high = &AgentEnv::kHigh, channels_.back().n_bounds = 1;
    add(BP_ROLE_STATE, BP_SPACE_BOX, BP_SCOPE_ROW, f32, "state", &whole_.shape.state, 0);
    add(BP_ROLE_ALIVE, BP_SPACE_MULTI_BINARY, agent, u8, "alive", nullptr, 0);
    add(BP_ROLE_REWARD, BP_SPACE_BOX, agent, f32, "reward", nullptr, 0);
    add(BP_ROLE_INFO, BP_SPACE_MULTI_BINARY, agent, u8, "agent_ended", nullptr, 0);
    spec = {sizeof(bp_env_spec), kPair + kSolo, channels_.data(), channels_.size(), 50, {BP_DEVICE_CPU, 0}, groups_, 2};
  }

  AgentRollout whole_;  // flags, rewards and states of all agents
  int64_t memory_;
  std::vector<bp_channel> channels_;
  const bp_group groups_[2] = {{sizeof(bp_group), kPair, "pair"}, {sizeof(bp_group), kSolo, "solo"}};
  std::vector<const char*> names_;
  std::vector<bp_tensor*> tensors_;
  bp_delivery raw_{};

 public:
  GroupBuffers pair, solo;
  bp_env_spec spec{};
};

}  // namespace backplane::test_support
