#include "shim/silence_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "machine/process_tree.hpp"
#include "record/status_file.hpp"

namespace backplane {
namespace {

// Looks per limit, and the bounds of the time between two of them.
constexpr double kLooksPerLimit = 16;
constexpr int kQuickestLook_ms = 50, kSlowestLook_ms = 1000;
constexpr double kLateLooks = 3;  // a busy machine wakes a process this many looks late, and not later

int TickFor(double limit_s) {
  return static_cast<int>(
      std::clamp<double>(1000 * limit_s / kLooksPerLimit, double{kQuickestLook_ms}, double{kSlowestLook_ms}));
}

bool StarterIsStopped() {
  const auto starter = StateOf(getppid());
  return starter && starter->stopped();
}

}  // namespace

SilenceWatch::SilenceWatch(std::filesystem::path status_file, double limit_s)
    : status_file_(std::move(status_file)),
      limit_s_(limit_s),
      tick_ms_(TickFor(limit_s)),
      clock_(kLateLooks * tick_ms_ / 1000) {}

SilenceWatch::~SilenceWatch() {
  if (fd_ >= 0) close(fd_);
}

bool SilenceWatch::IsOver() {
  const std::optional<uint64_t> now = Heartbeat();
  if (now != last_) {
    last_ = now;
    last_sign_s_ = clock_.Look();
    return false;
  }
  return clock_.Look(/*counts=*/!StarterIsStopped()) - last_sign_s_ > limit_s_;
}

std::optional<uint64_t> SilenceWatch::Heartbeat() {
  if (fd_ < 0) fd_ = open(status_file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  uint64_t heartbeat = 0;
  if (fd_ < 0 || pread(fd_, &heartbeat, sizeof heartbeat, offsetof(StatusFile, heartbeat)) != sizeof heartbeat)
    return std::nullopt;
  return heartbeat;
}

}  // namespace backplane
