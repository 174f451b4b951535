// "bp.env.inject/1": the state of single rows by name, as readable numbers such as qpos and qvel of a simulated body. For
// embedding programs that set a state or compare it with a different env. A snapshot ("bp.env.snapshot/1") is exact, but its
// format is private to the env.
#ifndef BACKPLANE_EXT_INJECT_H_
#define BACKPLANE_EXT_INJECT_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_INJECT_1 "bp.env.inject/1"
typedef struct bp_env_inject_1 {
  uint32_t struct_size, reserved;
  // Name of part i of a row's state, and its number of float64; NULL without writing beyond the last part. The text lives as
  // long as the env. [any]
  const char* (*part)(const bp_env* env, uint64_t i, uint64_t* out_n);
  // All parts of a row, concatenated. [rows]
  bp_status (*get)(bp_env* env, uint64_t row, double* out);
  // Sets a row's state, as if a reset had drawn it. Recomputes its state roles (OBS, ...) into the slot that a snapshot would
  // use. Values outside the parts, such as a solver's warm start, are as after a reset; the row's random stream continues. The
  // numbers must be finite. If an env rejects them, the row must be reset. [rows]
  bp_status (*set)(bp_env* env, uint64_t row, const double* values);
} bp_env_inject_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_INJECT_H_
