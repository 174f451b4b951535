// Records the memory of a learner's device (ext/device_use.h) per iteration.
#pragma once

#include <algorithm>

#include "data/data_loader.hpp"
#include "data/micro_batch_limit.hpp"
#include "trial/metrics.hpp"

namespace backplane {

inline void RecordDeviceUse(const GroupMemory& device, MetricsHub* metrics) {
  constexpr double kMiB = 1024 * 1024;
  metrics->Record("device/live_mb", device.live_bytes / kMiB);
  metrics->Record("device/peak_mb", device.peak_bytes / kMiB);
  metrics->Record("device/reserved_mb", device.reserved_bytes / kMiB);
}

// For learners without a data set: the use since the last call. Records nothing if no tensor was on the device.
inline void RecordDeviceUse(LearnerInstance& learner, MetricsHub* metrics) {
  const bp_device_use use = DeviceUse(learner);
  if (use.peak_bytes == 0) return;
  const auto peak = static_cast<double>(use.peak_bytes);
  RecordDeviceUse({static_cast<double>(use.live_bytes), peak, std::max(peak, static_cast<double>(use.reserved_bytes))},
                  metrics);
  ResetDevicePeak(learner);
}

}  // namespace backplane
