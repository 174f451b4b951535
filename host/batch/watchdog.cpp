#include "batch/watchdog.hpp"

#include <utility>

namespace backplane {
namespace {

constexpr double kTimeToTell_s = 0.5;  // for its threads to record their positions

}  // namespace

void Watchdog::Stopped(StopReason reason) {
  // The first reason stays, but a trial that hangs after a request to end counts as hung.
  if (stop_ == StopReason::kNone || reason == StopReason::kHang) stop_ = reason;
}

std::optional<StopHow> Watchdog::Look(const std::optional<StatusFile>& now, double elapsed_s) {
  // Time in which the trial was stopped does not count.
  if (now && now->own_s > 0) elapsed_s = now->own_s;
  if (now && std::exchange(heartbeat_, now->heartbeat) != now->heartbeat) last_sign_s_ = elapsed_s;
  // Request the current plugin and the calls of each thread, then kill a little later.
  if (stop_ == StopReason::kHang) return elapsed_s > asked_s_ + kTimeToTell_s ? std::optional(StopHow::kKill) : std::nullopt;
  if (elapsed_s - last_sign_s_ > limits_.hang_timeout_s) {
    Stopped(StopReason::kHang);
    asked_s_ = elapsed_s;
    return StopHow::kWhere;
  }
  if (stop_ == StopReason::kNone && limits_.wall_time_s && elapsed_s > *limits_.wall_time_s) {
    Stopped(StopReason::kWallTime);
    return StopHow::kAsk;
  }
  return std::nullopt;
}

}  // namespace backplane
