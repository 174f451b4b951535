// Checks the actions of a call between `act` and `step`, in every step. An unknown choice or a non-finite number is the
// learner's error and must not reach the env. Skips actions on a device, which the host cannot read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane {

struct BadAction {
  uint64_t row;
  bool not_finite;   // otherwise an unknown choice
  std::string text;  // "action[1] of row 3: expected a finite number, got nan"
};

class ActionCheck {
 public:
  // Checks the env's ACTION channels, in the buffers that `find` returns by name; they outlive this.
  void Bind(const EnvInstance& env, const std::function<ChannelBuffer*(const std::string&)>& find);
  // True if the env may step with the actions of rows [begin, end) in entry t. [rows]
  bool Allows(uint64_t t, uint64_t begin, uint64_t end) const {
    bool allowed = true;
    for (const Channel& c : channels_) allowed &= c.allows(c, c.buffer->row(t, begin * c.per_row), (end - begin) * c.elements);
    return allowed;
  }
  // The first invalid action.
  BadAction Find(uint64_t t, uint64_t begin, uint64_t end) const;

 private:
  struct Channel {
    ChannelBuffer* buffer;
    uint64_t per_row, elements;  // entries per row, and numbers in these entries
    bool (*allows)(const Channel& channel, const std::byte* data, uint64_t n);
    uint32_t choices;           // for an int32 DISCRETE
    std::vector<int64_t> nvec;  // per number of an entry; empty: any finite number
    // Number i at `data`, with a sentence if it is invalid.
    std::optional<BadAction> Look(const std::byte* data, uint64_t i) const;
  };
  static bool Finite32(const Channel&, const std::byte* data, uint64_t n);
  static bool Below32(const Channel& channel, const std::byte* data, uint64_t n);
  static bool OneByOne(const Channel& channel, const std::byte* data, uint64_t n);

  std::vector<Channel> channels_;
};

// Throws the failure for `bad`; `when`: "at step 3 of the rollout". `source`: a sentence if the row's observation was not
// finite. A learner answers a NaN with a NaN, so the env is to blame then.
[[noreturn]] void RefuseAction(const BadAction& bad, const std::string& when, const std::optional<std::string>& source,
                               const EnvInstance& env, const LearnerInstance& learner);

}  // namespace backplane
