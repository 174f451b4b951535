// Watches the memory of a trial without a control group: every second, and more often above half of its limit.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace backplane {

class MemoryWatch {
 public:
  // Watches everything below `root`.
  MemoryWatch(pid_t root, uint64_t limit_bytes) : root_(root), limit_bytes_(limit_bytes) {}

  // Adds up the resident memory of all processes. Pages that several of them share count in each: too much, never too little.
  // True if it is more than the limit.
  bool IsOver();
  int next_look_ms() const;
  uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  pid_t root_;
  uint64_t limit_bytes_, now_bytes_ = 0, peak_bytes_ = 0;
};

}  // namespace backplane
