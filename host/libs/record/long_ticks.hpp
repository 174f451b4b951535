// Ticks of a learner longer than a second: "long_ticks" of result.json, one entry per phase that had some. A trial can only
// stop between ticks, so these bound the delay.
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
