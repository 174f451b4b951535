// Ticks of a learner that took more than a second each: "long_ticks" of result.json, one entry for each phase that had some.
// Between two ticks a trial sees that it is to stop, so these are how late it may do so.
#pragma once

#include <cstdint>
#include <string>

namespace backplane {

struct LongTicks {
  std::string phase;
  uint64_t count = 0;
  double seconds = 0, longest_s = 0;

  bool operator==(const LongTicks&) const = default;

  static void Fields(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("count", self.count);
    visit("seconds", self.seconds);
    visit("longest_s", self.longest_s);
  }
};

}  // namespace backplane
