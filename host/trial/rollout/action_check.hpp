// Looks at the actions of a call right after `act` and before `step`, in every step: a choice that the action space does not
// have and a number that is not finite are the learner's, and not of the env that would meet them. Actions on a device are not
// looked at, as the host does not see them.
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
  bool not_finite;   // else: none of the choices
  std::string text;  // "action[1] of row 3: expected a finite number, got nan"
};

class ActionCheck {
 public:
  // Of the env's ACTION channels in the buffers that `find` knows by name, which outlive this.
  void Bind(const EnvInstance& env, const std::function<ChannelBuffer*(const std::string&)>& find);
  // Whether the env may be stepped with the actions of rows [begin, end) in entry t. [rows]
  bool Allows(uint64_t t, uint64_t begin, uint64_t end) const {
    bool allowed = true;
    for (const Channel& c : channels_) allowed &= c.allows(c, c.buffer->row(t, begin * c.per_row), (end - begin) * c.elements);
    return allowed;
  }
  // The first that is not allowed.
  BadAction Find(uint64_t t, uint64_t begin, uint64_t end) const;

 private:
  struct Channel {
    ChannelBuffer* buffer;
    uint64_t per_row, elements;  // entries of a row, and numbers in all of them
    bool (*allows)(const Channel& channel, const std::byte* data, uint64_t n);
    uint32_t choices;           // of an int32 DISCRETE
    std::vector<int64_t> nvec;  // of each number of an entry; empty: any that is finite
    // Number i at `data`, as a sentence if it is not allowed.
    std::optional<BadAction> Look(const std::byte* data, uint64_t i) const;
  };
  static bool Finite32(const Channel&, const std::byte* data, uint64_t n);
  static bool Below32(const Channel& channel, const std::byte* data, uint64_t n);
  static bool OneByOne(const Channel& channel, const std::byte* data, uint64_t n);

  std::vector<Channel> channels_;
};

// Throws what `bad` ends the trial with, `when` being "at step 3 of the rollout". A learner that is shown a NaN answers with
// one: then it is the env's. `source`: the observation of the row that was not finite, as a sentence, if there is one.
[[noreturn]] void RefuseAction(const BadAction& bad, const std::string& when, const std::optional<std::string>& source,
                               const EnvInstance& env, const LearnerInstance& learner);

}  // namespace backplane
