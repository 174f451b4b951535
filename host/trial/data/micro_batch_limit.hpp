// Limits the items per micro-batch of a learner. Finds the limit by trying, and halves it if the device runs out of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backplane/ext/device_use.h"
#include "rollout/instance.hpp"

namespace backplane {

bool ReportsDeviceUse(const LearnerInstance& learner);
// Zeros if the learner does not report it.
bp_device_use DeviceUse(LearnerInstance& learner);
// Does nothing if the learner does not report its use.
void ResetDevicePeak(LearnerInstance& learner);

// The largest micro-batch, 1 .. `most`, that fits. Each attempt uses a synthetic group of items at maximum length. If the
// learner reports its use of a device of `device_bytes` (0: unknown), few attempts suffice, because memory grows linearly with
// the items. `stop_requested`: true stops with a TrialFailure (BP_E_CANCELLED). Throws TrialFailure if not even one item fits.
uint64_t LargestMicroBatch(EnvInstance& env, LearnerInstance& learner, uint64_t most, uint64_t device_bytes,
                           const std::function<bool()>& stop_requested);

// Half of the size that did not fit: `micro_batch` items, or the whole group of `items` if that is smaller. Throws TrialFailure
// (BP_E_OOM_DEVICE) with `why` if it was one item.
uint64_t HalvedMicroBatch(const LearnerInstance& learner, uint64_t micro_batch, uint64_t items, const std::string& why);

}  // namespace backplane
