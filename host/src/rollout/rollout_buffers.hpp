// The buffers of a rollout of T steps: one per channel of the env and of the learner's act, T entries each, T+1 of the state
// roles, bound to the env once and written in place.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rollout/bounds_check.hpp"
#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane {

// Throws TrialFailure that names the learner where buffers for so many steps can not be.
void CheckHorizon(uint64_t horizon, const EnvInstance& env, const LearnerInstance& learner);

class RolloutBuffers {
 public:
  RolloutBuffers(EnvInstance& env, const LearnerInstance& learner) : env_(env), learner_(learner), memory_(env) {}

  // Allocates for `horizon` steps and binds. `carry`: the newest states come along from the old buffers. [control]
  void Bind(uint64_t horizon, bool carry);
  // Frees them; the env is bound to others next. [control]
  void Release();
  uint64_t horizon() const { return horizon_; }  // 0: not bound yet
  // The states after the last rollout become those before the first step of the next one.
  void Continue();
  ChannelBuffer* Find(const std::string& name);  // NULL: no such channel

  // For an env on a device: returns once its steps are done; what tells of them becomes visible to the host.
  void AwaitDevice();
  void FetchForHost();
  const EnvMemory& memory() const { return memory_; }

  // The newest states of all rows, as bytes, and back. Not for an env on a device. Throws TrialFailure (BP_E_IO) where it
  // is another number of bytes.
  std::vector<std::byte> SaveStates();
  void RestoreStates(const std::vector<std::byte>& bytes);

  // What calls in slot t see, to watch them. Of a reset at the start of a rollout t is the horizon.
  CallChannels OfAct(uint64_t t) const;
  CallChannels OfStep(uint64_t t) const;
  CallChannels OfReset(uint64_t t) const;
  // Around all buffers. Throws TrialFailure that names whose channel it is. [control]
  void CheckGuards() const;
  std::optional<std::string> GuardBreak() const;  // the same as a sentence, whosever it is

  bp_tensor* const* act_in(uint64_t t) const { return act_in_[t].data(); }
  bp_tensor* const* act_out(uint64_t t) const { return act_out_[t].data(); }

  // By role; `state` may be NULL. `*_lead` counts entries per row (agents).
  ChannelBuffer *obs = nullptr, *state = nullptr, *reward = nullptr, *terminated = nullptr, *truncated = nullptr;
  uint64_t obs_lead = 1, reward_lead = 1;
  // The channels of OBS, then those of STATE: what an episode has ended with is kept of each.
  struct Observed {
    ChannelBuffer* buffer;
    ChannelBuffer* finals;  // [T, N, ...] of an env that resets itself, else NULL
    uint64_t lead;
    std::string final_name;  // in a delivery
  };
  std::vector<Observed> observed;
  std::vector<ChannelBuffer*> infos;  // "ep/..." channels
  std::vector<std::string> info_names;

 private:
  void FindRoles();
  SlotChannel Seen(const std::string& name, uint64_t entry) const;
  template <class Function>
  void ForEachState(Function&& function);

  EnvInstance& env_;
  const LearnerInstance& learner_;
  const EnvMemory memory_;
  uint64_t horizon_ = 0;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<std::vector<bp_tensor*>> slot_tensors_;
  std::vector<bp_frame> frames_;
  std::vector<std::vector<bp_tensor*>> act_in_, act_out_;  // [t][channel]
};

}  // namespace backplane
