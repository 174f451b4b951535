// The buffers of an env bound to a single slot: one entry per channel of the env and of the learner's act. A step overwrites
// the previous one, so episodes may have any length.
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
  ChannelBuffer& operator[](const std::string& name) { return *buffers_.at(name); }
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
  SlotChannel Seen(const std::string& name) const;

  EnvInstance& env_;
  const LearnerInstance& learner_;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<bp_tensor*> tensors_, act_in_, act_out_;
  std::vector<bp_frame> frames_;
};

}  // namespace backplane
