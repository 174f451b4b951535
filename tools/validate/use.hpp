// A plugin's whole life in short, whatever its kind: made, used, destroyed.
#pragma once

#include <string>
#include <vector>

#include "validate/subject.hpp"

namespace backplane {

// `bare`: with a host without optional services. Returns the computed bytes, for comparisons. [any]
std::vector<std::byte> UseOnce(Subject& subject, bool bare = false);
// Only made and destroyed.
void MakeOnce(Subject& subject);
// Ends the case as SKIPPED where there may be only one.
void NeedTwoInstances(const Subject& subject);

// Events as a trial sends them: `iterations` with their phases, episodes and numbers.
class EventStorm {
 public:
  explicit EventStorm(uint64_t iterations, uint64_t first_seq = 0);
  const std::vector<bp_event>& events() const { return events_; }
  std::vector<bp_event>& events() { return events_; }

 private:
  std::vector<bp_event> events_;
};

}  // namespace backplane
