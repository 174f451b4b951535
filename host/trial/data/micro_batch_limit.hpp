// Limits how many items a learner works on at once. The limit is found by trying, and halved if the device runs out of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backplane/ext/device_use.h"
#include "rollout/instance.hpp"

namespace backplane {

bool ReportsDeviceUse(const LearnerInstance& learner);
// Zeros where the learner does not tell.
bp_device_use DeviceUse(LearnerInstance& learner);
// Nothing where the learner does not tell.
void ResetDevicePeak(LearnerInstance& learner);

// The most items, 1 .. `most`, that fit; each try is a made-up group of items that are as long as they can be. With a learner
// that tells its use of a device of `device_bytes` (0: size not known) few tries are needed, as memory grows by about the same
// for each item. `stop_requested`: true stops, as a TrialFailure (BP_E_CANCELLED). Throws TrialFailure where not even one item
// fits.
uint64_t LargestMicroBatch(EnvInstance& env, LearnerInstance& learner, uint64_t most, uint64_t device_bytes,
                           const std::function<bool()>& stop_requested);

// Half of what did not fit: `micro_batch` items, or the whole group of `items` where that is less. Throws TrialFailure
// (BP_E_OOM_DEVICE) with `why` if that was one item.
uint64_t HalvedMicroBatch(const LearnerInstance& learner, uint64_t micro_batch, uint64_t items, const std::string& why);

}  // namespace backplane
