// Waits for a running trial: shows its progress, notices when it hangs or runs over its time, passes Ctrl-C on.
#pragma once

#include <optional>

#include "supervise/child.hpp"
#include "supervise/outcome.hpp"
#include "supervise/progress.hpp"
#include "supervise/status_reader.hpp"

namespace backplane {

struct WatchLimits {
  double hang_timeout_s = 300;
  std::optional<double> wall_time_s;
  double save_grace_s = 30;  // after SIGTERM for wall time, until SIGKILL
};

struct Watched {
  ChildExit exit;
  StopReason stop = StopReason::kNone;
  std::optional<StatusFile> last;  // what the trial said last
  double wall_s = 0;
};

// `progress` may be NULL.
Watched WatchTrial(Child& child, StatusReader& status, const WatchLimits& limits, Progress* progress);

// While one exists, SIGINT, SIGTERM and SIGHUP are counted instead of ending the process. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  static int Count();
};

}  // namespace backplane
