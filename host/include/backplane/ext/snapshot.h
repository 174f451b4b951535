// "bp.env.snapshot/1": fixed-size states of single rows, with everything that affects the next steps (including the row's
// random counter and its current observation). Used for resuming, parity tests and paired comparisons.
#ifndef BACKPLANE_EXT_SNAPSHOT_H_
#define BACKPLANE_EXT_SNAPSHOT_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_SNAPSHOT_1 "bp.env.snapshot/1"
typedef struct bp_env_snapshot_1 {
  uint32_t struct_size, reserved;
  uint64_t (*row_bytes)(const bp_env* env);                // [any]
  bp_status (*get)(bp_env* env, uint64_t row, void* out);  // out [row_bytes]. [rows]
  // Rejects data of a different env, model or library version with BP_E_INVALID_ARG. [rows]
  bp_status (*set)(bp_env* env, uint64_t row, const void* data);
} bp_env_snapshot_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_SNAPSHOT_H_
