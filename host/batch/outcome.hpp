// Derives the outcome of an attempt from its exit, its result and the supervisor's actions. This file contains the only table.
#pragma once

#include <optional>
#include <string>

#include "base/child.hpp"
#include "record/trial_state.hpp"

namespace backplane {

enum class StopReason { kNone = 1, kHang, kWallTime, kInterrupt };

struct Ending {
  ChildExit exit;
  StopReason stop = StopReason::kNone;     // why the supervisor ended it
  std::optional<TrialState> result_state;  // in result.json, if the trial wrote a valid one
  bool over_memory = false;                // ended because it exceeded its allocation, or by the kernel's out-of-memory killer
  uint64_t peak_rss_bytes = 0;             // largest process of the trial; 0: unknown
  std::optional<uint64_t> memory_limit_bytes;
  std::string not_started;                                      // why its process never started; empty: it did
  std::optional<double> hang_timeout_s = {}, wall_time_s = {};  // limits that it may have exceeded, if the file sets them
  bool has_checkpoint = true;
  std::string lost = {};  // why its end was not observed; empty: it was
  double queued_s = 0;    // before it began, in a cluster's queue
  std::string plugin;     // the plugin that ran, from its last status; empty: an orderly end, or unknown
  // As in JobEnd.
  bool over_silence = false, left = false;
  std::string stuck = {};
};

struct AttemptVerdict {
  Outcome outcome = Outcome::kPlugin;
  TrialState state = TrialState::kFailed;  // COMPLETED, PRUNED, FAILED or KILLED
  std::string why;                         // one sentence; empty for ok
  std::string signal;                      // "SIGSEGV"; empty if none
  bool on_device = false;                  // oom: device memory ran out, not the host's
  bool by_limit = false;                   // `why` names the limit that ended it; the trial only reports a stop
};

AttemptVerdict Classify(const Ending& ending);

}  // namespace backplane
