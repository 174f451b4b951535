// The buffers of a rollout of T steps: one per channel of the env and of the learner's act, T entries each, T+1 for the state
// roles.
//
// They are bound to the env once and written in place. In a long rollout of few rows, the slots (tensors, their shapes,
// pointers to them) would take more memory than the numbers. Then env and learner work on a single slot, and every step is
// copied, so that the buffers contain only numbers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rollout/bounds_check.hpp"
#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"
#include "rollout/rollout_part.hpp"
#include "rollout/slot_buffers.hpp"

namespace backplane {

// Throws TrialFailure with the learner's name if buffers for so many steps cannot exist.
void CheckHorizon(uint64_t horizon, const EnvInstance& env, const LearnerInstance& learner);
// The same for a request of a rollout, whole or in parts.
void CheckParts(const bp_request& request, const EnvInstance& env, const LearnerInstance& learner);

// True if rollouts of so many steps are copied from a single slot.
bool CopiesSteps(uint64_t horizon, const EnvInstance& env, const LearnerInstance& learner);

class RolloutBuffers {
 public:
  // `shared`: holds the buffers, if it can; NULL: none.
  RolloutBuffers(EnvInstance& env, const LearnerInstance& learner, SharedMemory* shared = nullptr)
      : env_(env), learner_(learner), memory_(env, learner), shared_(shared) {}

  // Allocates for `room` steps and binds. `carry`: copies the newest states from the old buffers, if any. [control]
  void Bind(uint64_t room, bool carry);
  // From now on, they contain this part of a rollout, which may have fewer steps than there is room for. [control]
  void Begin(const RolloutPart& part);
  // True if other processes see them.
  bool shared() const { return shared_ && !shared_->block().empty(); }
  // Frees the buffers; bind the env to others next. [control]
  void Release();
  uint64_t room() const { return room_; }          // steps; 0: not bound yet
  uint64_t horizon() const { return horizon_; }    // steps of the rollout, or of the part that they contain
  uint64_t first() const { return first_; }        // the part's first step in its rollout
  uint64_t bindings() const { return bindings_; }  // counts calls of Bind and Release, which invalidate addresses
  // Makes the last states of a rollout the initial states of the next one. In shared memory, the owner has done it.
  void Continue();
  ChannelBuffer* Find(const std::string& name);  // NULL: no such channel

  // For an env on a device: returns after its steps are done; the channels read after a step are then visible to the host.
  void AwaitDevice();
  void FetchForHost();
  const EnvMemory& memory() const { return memory_; }

  // Saves and restores the newest states of all rows as bytes. Not for an env on a device. Throws TrialFailure (BP_E_IO) if the
  // number of bytes differs.
  std::vector<std::byte> SaveStates();
  void RestoreStates(const std::vector<std::byte>& bytes);

  // The first states of rows [begin, end) in a rollout as bytes, and all results of its steps (channels "ep/..." are left out,
  // because Episode::info holds their numbers). Restore returns false if the number of bytes differs. [control]
  std::vector<std::byte> SaveFirstStates(uint64_t begin, uint64_t end);
  bool RestoreFirstStates(uint64_t begin, uint64_t end, const std::vector<std::byte>& bytes);
  std::vector<std::byte> SaveSteps(uint64_t begin, uint64_t end);
  bool RestoreSteps(uint64_t begin, uint64_t end, const std::vector<std::byte>& bytes);

  // The channels of calls in slot t, for bounds checks. For a reset at the start of a rollout, t is room().
  CallChannels OfAct(uint64_t t) const;
  CallChannels OfStep(uint64_t t) const;
  CallChannels OfReset(uint64_t t) const;
  // Checks the guards of all buffers. Throws TrialFailure with the channel's owner. [control]
  void CheckGuards() const;
  std::optional<std::string> GuardBreak() const;  // the same as a sentence, for any owner

  // The arguments of calls in step t. For a reset at the start of a rollout, t is room().
  bp_tensor* const* act_in(uint64_t t) const { return slot_ ? slot_->act_in() : act_in_[t].data(); }
  bp_tensor* const* act_out(uint64_t t) const { return slot_ ? slot_->act_out() : act_out_[t].data(); }
  uint32_t slot(uint64_t t) const { return slot_ ? 0 : static_cast<uint32_t>(t); }
  // Copies the results of a call for rows [begin, end) into the buffers, unless they are written in place. [rows]
  void TakeAct(uint64_t t, uint64_t begin, uint64_t end) {
    if (slot_) Take(of_act_, t, begin, end), Take(of_carry_, t + 1, begin, end), slot_->Advance(begin, end);
  }
  void TakeStep(uint64_t t, uint64_t begin, uint64_t end) {
    if (slot_) Take(of_step_, t, begin, end), Take(of_states_, t + 1, begin, end);
  }
  void TakeReset(uint64_t t, uint64_t begin, uint64_t end) {
    if (slot_) Take(of_states_, t == room_ ? 0 : t + 1, begin, end);
  }

  // Clears the learner's memory of rows [begin, end) in an entry: their episodes begin with it. [rows]
  void Forget(uint64_t entry, uint64_t begin, uint64_t end);

  // By role; `state` may be NULL. `*_lead` counts entries per row (agents).
  ChannelBuffer *obs = nullptr, *state = nullptr, *reward = nullptr, *terminated = nullptr, *truncated = nullptr;
  uint64_t obs_lead = 1, reward_lead = 1;
  // The channels of OBS, then of STATE, then of CARRY. The last values of an episode are kept for each.
  struct Observed {
    ChannelBuffer* buffer;
    ChannelBuffer* finals;  // [T, N, ...] for an env that resets itself, otherwise NULL
    uint64_t lead;
    std::string final_name;  // in a delivery
  };
  std::vector<Observed> observed;
  std::vector<ChannelBuffer*> infos;  // "ep/..." channels
  std::vector<std::string> info_names;

 private:
  struct Taken {
    ChannelBuffer *from, *to;
    uint64_t lead;  // entries per row
  };
  static void Take(const std::vector<Taken>& channels, uint64_t entry, uint64_t begin, uint64_t end);
  void BindSlots();
  void BindOneSlot();
  void FindRoles();
  SlotChannel Seen(const std::string& name, uint64_t entry) const;
  template <class Function>
  void ForEachState(Function&& function);
  // Calls function(at, bytes) for the rows of each channel in each step.
  template <class Function>
  void ForEachStepOf(uint64_t begin, uint64_t end, Function&& function);

  EnvInstance& env_;
  const LearnerInstance& learner_;
  const EnvMemory memory_;
  SharedMemory* const shared_;
  uint64_t room_ = 0, horizon_ = 0, first_ = 0, bindings_ = 0;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<std::vector<bp_tensor*>> slot_tensors_;
  std::vector<bp_frame> frames_;
  std::vector<std::vector<bp_tensor*>> act_in_, act_out_;  // [t][channel]
  std::optional<SlotBuffers> slot_;                        // if steps are copied
  std::vector<Taken> of_act_, of_carry_, of_step_, of_states_;
};

}  // namespace backplane
