// The cheapest env of four agents a row: shows what agents cost.
#include "backplane/env.hpp"

class NullAgents {
 public:
  static constexpr bp::About kAbout{"env.null_agents", "1.0.0",
                                    "Does nothing: 4 agents with observations of 32 numbers, reward 0."};
  static constexpr uint32_t kAgents = 4;
  static constexpr int64_t kObs = 32;

  explicit NullAgents(uint64_t) {}
  bp::EnvSpec Spec() const {
    bp::EnvSpec spec;
    return spec.Add({.role = BP_ROLE_OBS, .name = "obs", .shape = {kObs}, .scope = BP_SCOPE_AGENT})
        .Add({.role = BP_ROLE_ACTION, .name = "action", .shape = {1}, .scope = BP_SCOPE_AGENT, .low = {-1}, .high = {1}})
        .Add({.role = BP_ROLE_REWARD, .name = "reward", .scope = BP_SCOPE_AGENT})
        .Terminated()
        .MaxAgents(kAgents)
        .MaxEpisodeSteps(100);
  }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t*) {
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) std::memset(slot.Row<float>(0, r), 0, kAgents * kObs * sizeof(float));
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    const auto obs = slot.Rows<float>(0), reward = slot.Rows<float>(2);
    const auto action = slot.Rows<const float>(1);
    const auto terminated = slot.Rows<uint8_t>(3);
    for (uint64_t r = begin; r < end; ++r) {
      for (uint32_t a = 0; a < kAgents; ++a) {
        const float value = action[r][a];  // once: obs might alias it
        for (int64_t i = 0; i < kObs; ++i) obs[r][a * kObs + i] = value;
        reward[r][a] = 0;
      }
      *terminated[r] = 0;
    }
  }
};

BP_PLUGINS(bp::EnvBatch<NullAgents>);
