// Metrics that the host records per iteration in addition to the plugins' metrics. To add one, add its row here and call
// MetricsHub::Record; unit, direction and validation follow from the row.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace backplane {

struct HostMetric {
  std::string_view name, unit, doc;
  int direction;    // 1 up is better, -1 down, 0 neither
  bool of_machine;  // differs between equal trials
};

inline constexpr HostMetric kHostMetrics[] = {
    {"rollout/balance", "", "mean / largest CPU time of the runner threads", 1, true},
    {"rollout/wall_eff", "", "CPU time of the runner threads / (threads x wall time)", 1, true},
    {"data/epoch", "", "epochs read so far", 0, false},
    {"data/micro_batch", "items", "items that the learner processes together", 0, false},
    {"data/oom_count", "", "updates that ran out of memory and were repeated in smaller parts", -1, false},
    {"data/first_oom", "", "iteration of the first update that ran out of memory", 0, false},
    {"device/live_mb", "MiB", "memory of the learner's device in use: mean after micro-batches, else at the iteration's end",
     -1, true},
    {"device/peak_mb", "MiB", "peak of device memory in use in the iteration", -1, true},
    {"device/reserved_mb", "MiB", "peak memory reserved on the device, caches included", -1, true},
};

// Looks up the row of a name; an unknown name does not compile.
struct HostMetricRow {
  size_t index = 0;

  consteval HostMetricRow(const char* name) {
    while (kHostMetrics[index].name != name) ++index;
  }
};

}  // namespace backplane
