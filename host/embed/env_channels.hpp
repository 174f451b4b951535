// The buffers of an open env: its own channels, bound to one slot, and the host's.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane {

class EnvChannels {
 public:
  // Allocates the buffers and binds them. They live as long as this object.
  explicit EnvChannels(EnvInstance& env);

  struct Channel {
    bp_channel about;  // the host's own have a role of the env's, or kReturn, kLength
    ChannelBuffer* buffer;
    bool by_host;
  };
  static constexpr uint16_t kReturn = 1000, kLength = 1001;

  const std::vector<Channel>& all() const { return all_; }  // in the order of the spec, then the host's
  ChannelBuffer& operator[](const std::string& name) const { return *buffers_.at(name); }
  ChannelBuffer* Find(const std::string& name) const;  // NULL: no such channel
  uint64_t PerRow(const ChannelBuffer& buffer) const { return buffer.lead() / rows_; }

  // By role. `state` may be NULL.
  ChannelBuffer *obs, *state, *reward, *terminated, *truncated, *ep_return, *ep_length;

  // Copies the row's last observation into `final_obs` and the like.
  void KeepFinal(uint64_t row);
  // Copies them back, so that a failed step leaves the observation before it.
  void RestoreKept(uint64_t row);
  // "observation obs[1] of the row is not finite", of the first such number; empty: none.
  std::string NotFinite(uint64_t row) const;
  // Sets the values of a step to 0, as after a reset.
  void ClearStep(uint64_t row);

 private:
  ChannelBuffer* OfRole(uint16_t role) const;
  ChannelBuffer* AddOwn(const EnvInstance& env, uint16_t role, const std::string& name, const bp_channel& like);

  const uint64_t rows_;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<Channel> all_;
  std::vector<ChannelBuffer*> of_step_;
  struct Kept {
    ChannelBuffer* from;
    ChannelBuffer* to;
  };
  std::vector<Kept> kept_;         // empty for an env that resets itself
  std::deque<std::string> names_;  // of the host's own channels; their addresses stay valid
  std::vector<bp_tensor*> tensors_;
  std::vector<bp_frame> frames_;
};

}  // namespace backplane
