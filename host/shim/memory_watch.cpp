#include "shim/memory_watch.hpp"

#include <algorithm>

#include "machine/process_tree.hpp"

namespace backplane {
namespace {

constexpr int kCalm_ms = 1000, kNear_ms = 100;

}  // namespace

bool MemoryWatch::IsOver() {
  now_bytes_ = 0;
  for (const pid_t pid : DescendantsOf(root_)) {
    now_bytes_ += ResidentBytes(pid);
  }
  peak_bytes_ = std::max(peak_bytes_, now_bytes_);
  return now_bytes_ > limit_bytes_;
}

int MemoryWatch::next_look_ms() const { return now_bytes_ > limit_bytes_ / 2 ? kNear_ms : kCalm_ms; }

}  // namespace backplane
