// "bp.learner.device_use/1": memory use of the learner's device, from its allocator. On a CPU the tensor allocator enforces
// bp_limits.device_bytes, to behave like a device of that size.
#ifndef BACKPLANE_EXT_DEVICE_USE_H_
#define BACKPLANE_EXT_DEVICE_USE_H_

#include "backplane/learner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_device_use {
  uint32_t struct_size, reserved;
  uint64_t live_bytes;      // tensors now
  uint64_t peak_bytes;      // maximum since `reset_peak`
  uint64_t reserved_bytes;  // allocated from the device now, including caches; equal to live_bytes without a cache
} bp_device_use;

#define BP_LEARNER_DEVICE_USE_1 "bp.learner.device_use/1"
typedef struct bp_learner_device_use_1 {
  uint32_t struct_size, reserved;
  bp_status (*read)(bp_learner* learner, bp_device_use* out);  // [control]
  bp_status (*reset_peak)(bp_learner* learner);                // sets the peak to the live memory. [control]
} bp_learner_device_use_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_DEVICE_USE_H_
