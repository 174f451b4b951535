// The buffers of an env bound to a single slot: one entry per channel of the env and of the learner's act. A step overwrites
// the previous one, so episodes may have any length. A CARRY channel has two entries: `act` reads one and writes the other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rollout/bounds_check.hpp"
#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane {

class SlotBuffers {
 public:
  // `mirrored`: selects channels that the host reads, also for an env on a device.
  SlotBuffers(EnvInstance& env, const LearnerInstance& learner, const std::function<bool(const bp_channel&)>& mirrored);

  void Bind() { env_.Bind(frames_); }
  ChannelBuffer& operator[](const std::string& name) { return *buffers_.at(name); }  // of CARRY: the entry that `act` reads
  ChannelBuffer& Written(const std::string& name) const;                             // an output of `act`
  // Makes the memory that `act` wrote for rows [begin, end) the one that it reads. [rows]
  void Advance(uint64_t begin, uint64_t end) {
    for (const Memory& m : memories_) m.Advance(begin, end);
  }
  // Clears the memory of rows [begin, end), whose episodes begin. [rows]
  void Forget(uint64_t begin, uint64_t end) {
    for (const Memory& m : memories_) m.Forget(begin, end);
  }
  ChannelBuffer* OfRole(uint16_t role);  // the first one; NULL: none
  // The channels of calls, for bounds checks.
  CallChannels OfAct() const;
  CallChannels OfStep() const;
  CallChannels OfReset() const;
  // Checks the guards of all buffers. Throws TrialFailure with the channel's owner. [control]
  void CheckGuards() const;
  bp_tensor* const* act_in() const { return act_in_.data(); }
  bp_tensor* const* act_out() const { return act_out_.data(); }

 private:
  struct Memory {
    ChannelBuffer* read;
    std::unique_ptr<ChannelBuffer> written;
    uint64_t per_row;  // entries
    void Advance(uint64_t begin, uint64_t end) const;
    void Forget(uint64_t begin, uint64_t end) const;
  };
  SlotChannel Seen(ChannelBuffer& buffer) const { return {&buffer, 0, buffer.lead() / env_.rows()}; }

  EnvInstance& env_;
  const LearnerInstance& learner_;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<Memory> memories_;  // of the learner's CARRY channels
  std::vector<bp_tensor*> tensors_, act_in_, act_out_;
  std::vector<bp_frame> frames_;
};

}  // namespace backplane
