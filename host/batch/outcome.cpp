#include "batch/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include "base/signal_text.hpp"
#include "batch/watchdog.hpp"
#include "contract/trial_spec.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

constexpr int kFirstShellSignal = 129, kLastShellSignal = 159;  // 128 + signal, from a shell or launcher around the trial

static_assert(kSilenceLimits == 2, "the sentence below contains it");

constexpr double kNearLimit = 0.95;  // allocations begin to fail here, so a crash near the limit counts as out of memory

std::string MiB(uint64_t bytes) { return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20)); }

// "took longer than resources.wall_time (3s), not counting 12s in the queue"
std::string OverWallTime(const Ending& ending) {
  std::string why = "took longer than resources.wall_time";
  if (ending.wall_time_s) why += " (" + FormatDuration(*ending.wall_time_s) + ")";
  if (ending.queued_s >= 1) why += fmt::format(", not counting {} in the queue", FormatDuration(std::floor(ending.queued_s)));
  return why;
}

// "env.NAME gave no sign of life for 2s (resources.hang_timeout) and was killed; it was stopped (state T)"
std::string Silent(const Ending& ending) {
  const double times = ending.over_silence ? kSilenceLimits : 1;
  std::string why = ending.plugin.empty() ? "" : ending.plugin + " ";
  why += "gave no sign of life";
  if (ending.hang_timeout_s)
    why += fmt::format(" for {} ({}resources.hang_timeout)", FormatDuration(times * *ending.hang_timeout_s),
                       ending.over_silence ? "2 x " : "");
  why += ending.left ? " and could not be killed" : " and was killed";
  return ending.stuck.empty() ? why : why + "; " + ending.stuck;
}

// "memory ran out: the trial requested more than resources.memory (1024 MiB); its largest process had 1020 MiB"
std::string OutOfMemory(const Ending& ending) {
  std::string why = "memory ran out";
  if (ending.memory_limit_bytes)
    why += ": the trial requested more than resources.memory (" + MiB(*ending.memory_limit_bytes) + ")";
  return ending.peak_rss_bytes > 0 ? why + "; its largest process had " + MiB(ending.peak_rss_bytes) : why;
}

bool CrashedNearLimit(int signal, const Ending& ending) {
  return (signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS) && ending.memory_limit_bytes &&
         static_cast<double>(ending.peak_rss_bytes) >= kNearLimit * static_cast<double>(*ending.memory_limit_bytes);
}

AttemptVerdict BySignal(int signal, const Ending& ending) {
  const std::string name = SignalText(signal);
  if (ending.stop == StopReason::kInterrupt && (signal == SIGKILL || signal == SIGTERM)) {
    return {Outcome::kKilled, TrialState::kKilled,
            ending.left ? "stopped on request, but could not be killed; " + ending.stuck
                        : "stopped on request before it could save",
            name};
  }
  if (signal == SIGKILL && ending.over_memory) {
    return {Outcome::kOom, TrialState::kFailed, OutOfMemory(ending), name};
  }
  if (CrashedNearLimit(signal, ending)) {
    return {Outcome::kOom, TrialState::kFailed, OutOfMemory(ending) + "; it died of " + name, name};
  }
  if (signal == SIGKILL) {
    return {Outcome::kSignal, TrialState::kFailed, "killed from outside by SIGKILL, as the kernel does when memory runs out",
            name};
  }
  return {Outcome::kSignal, TrialState::kFailed, "died of " + name, name};
}

bool IsOfTheContract(int code) {
  constexpr std::array kCodes{kExitOk,      kExitUsage, kExitTemp,    kExitConfig, kExitGpuOom,
                              kExitHostOom, kExitNan,   kExitTimeout, kExitPlugin};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

AttemptVerdict ByExitZero(const Ending& ending) {
  if (!ending.result_state && ending.stop == StopReason::kInterrupt) {
    return {Outcome::kKilled, TrialState::kKilled, "stopped on request before it began", ""};
  }
  if (!ending.result_state) {
    return {Outcome::kPlugin, TrialState::kFailed,
            "ended with exit code 0 but without a result; a plugin may have ended the process", ""};
  }
  if (ending.result_state == TrialState::kCompleted) {
    return {Outcome::kOk, TrialState::kCompleted, "", ""};
  }
  if (ending.result_state == TrialState::kPruned) {
    return {Outcome::kPruned, TrialState::kPruned, "", ""};
  }
  if (ending.result_state == TrialState::kKilled) {
    return {Outcome::kKilled, TrialState::kKilled, "stopped on request", ""};
  }
  return {Outcome::kPlugin, TrialState::kFailed,
          std::string("ended with exit code 0, but its result is ") + Word(*ending.result_state), ""};
}

AttemptVerdict ByExitCode(int code, const Ending& ending) {
  switch (code) {
    case kExitOk: return ByExitZero(ending);
    case kExitUsage: return {Outcome::kConfig, TrialState::kFailed, "the trial's file could not be read", ""};
    case kExitConfig: return {Outcome::kConfig, TrialState::kFailed, "a plugin rejected its options", ""};
    case kExitGpuOom: return {Outcome::kOom, TrialState::kFailed, "device memory ran out", "", /*on_device=*/true};
    case kExitHostOom: return {Outcome::kOom, TrialState::kFailed, OutOfMemory(ending), ""};
    case kExitNan: return {Outcome::kNan, TrialState::kFailed, "a value became NaN or infinite", ""};
    case kExitTimeout: return {Outcome::kTimeout, TrialState::kFailed, "time ran out", ""};
    case kExitPlugin: return {Outcome::kPlugin, TrialState::kFailed, "a plugin could not be loaded or broke its contract", ""};
    case kExitTemp:
      return ending.stop == StopReason::kInterrupt
                 ? AttemptVerdict{Outcome::kKilled, TrialState::kKilled,
                                  ending.has_checkpoint
                                      ? "stopped on request, with a checkpoint"
                                      : "stopped on request, without a checkpoint: it will start from scratch",
                                  ""}
                 : AttemptVerdict{Outcome::kTemp, TrialState::kKilled, "ended early; a retry may succeed", ""};
    default: break;
  }
  if (code >= kFirstShellSignal && code <= kLastShellSignal) {
    return BySignal(code - 128, ending);
  }
  return {Outcome::kPlugin, TrialState::kFailed,
          "ended with the unknown exit code " + std::to_string(code) + "; a plugin may have ended the process", ""};
}

}  // namespace

AttemptVerdict Classify(const Ending& ending) {
  if (!ending.not_started.empty()) {
    return {Outcome::kTemp, TrialState::kFailed, "could not be started: " + ending.not_started, ""};
  }
  if (!ending.lost.empty() && !(ending.result_state && IsFinished(*ending.result_state)))
    return {Outcome::kStale, TrialState::kKilled, ending.lost, ""};
  // A trial with a result has ended, and only monitors still run. A later kill does not change its outcome.
  const bool whole = ending.result_state && IsFinished(*ending.result_state);
  if (whole && (ending.exit.signal != 0 || !IsOfTheContract(ending.exit.code))) {
    return ByExitZero(ending);
  }
  const bool complete = whole && ending.exit.code == kExitOk;
  if (!complete && (ending.stop == StopReason::kHang || ending.over_silence)) {
    return {Outcome::kTimeout, TrialState::kFailed, Silent(ending), "", false, /*by_limit=*/true};
  }
  if (!complete && ending.stop == StopReason::kWallTime) {
    return {Outcome::kTimeout, TrialState::kFailed, OverWallTime(ending), "", false, /*by_limit=*/true};
  }
  return ending.exit.signal != 0 ? BySignal(ending.exit.signal, ending) : ByExitCode(ending.exit.code, ending);
}

}  // namespace backplane
