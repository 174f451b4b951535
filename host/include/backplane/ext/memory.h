// "bp.env.memory/1": memory of the device in an env's spec. The host owns every buffer but supports no devices itself, so an
// env on a device supplies these calls. They are ordered with the env's own work on the device. [control]
#ifndef BACKPLANE_EXT_MEMORY_H_
#define BACKPLANE_EXT_MEMORY_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_MEMORY_1 "bp.env.memory/1"
typedef struct bp_env_memory_1 {
  uint32_t struct_size, reserved;
  // `bytes` > 0, aligned to 256 bytes, zeroed. BP_E_OOM_DEVICE if memory is exhausted.
  bp_status (*allocate)(bp_env* env, uint64_t bytes, void** out_device);
  void (*release)(bp_env* env, void* device);
  bp_status (*to_host)(bp_env* env, void* host, const void* device, uint64_t bytes);    // returns when the copy is complete
  bp_status (*to_device)(bp_env* env, void* device, const void* host, uint64_t bytes);  // `host` may be freed when it returns
  bp_status (*copy)(bp_env* env, void* to_device, const void* from_device, uint64_t bytes);
  // to_device [n, bytes_each] = items indices[i] of from_device, `bytes_each` apart; indices are in host memory.
  bp_status (*gather)(bp_env* env, void* to_device, const void* from_device, uint64_t bytes_each, uint64_t n,
                      const int64_t* indices);
} bp_env_memory_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_MEMORY_H_
