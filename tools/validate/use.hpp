// A plugin's short life, for any kind: created, used, destroyed.
#pragma once

#include <string>
#include <vector>

#include "validate/subject.hpp"

namespace backplane {

// `bare`: with a host without optional services. Returns the computed bytes, for comparisons. [any]
std::vector<std::byte> UseOnce(Subject& subject, bool bare = false);
// Only creates and destroys it.
void MakeOnce(Subject& subject);
// Ends the case as SKIPPED if only one instance is allowed.
void NeedTwoInstances(const Subject& subject);

// Events as in a trial: `iterations` with their phases, episodes and numbers.
class EventStorm {
 public:
  explicit EventStorm(uint64_t iterations, uint64_t first_seq = 0);
  const std::vector<bp_event>& events() const { return events_; }
  std::vector<bp_event>& events() { return events_; }

 private:
  std::vector<bp_event> events_;
};

}  // namespace backplane
