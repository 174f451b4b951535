// "bp.env.inject/1": the state of single rows by name, as numbers that a person knows: of a simulated body its qpos and qvel.
// For embedding, where a trainer sets a state or compares with an env of its own. A snapshot ("bp.env.snapshot/1") is exact and
// nobody's business but the env's; this is meant to be read.
#ifndef BACKPLANE_EXT_INJECT_H_
#define BACKPLANE_EXT_INJECT_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_INJECT_1 "bp.env.inject/1"
typedef struct bp_env_inject_1 {
  uint32_t struct_size, reserved;
  // Name of part i of a row's state, and its number of float64; NULL and nothing written beyond the last part. The text lives
  // as long as the env. [any]
  const char* (*part)(const bp_env* env, uint64_t i, uint64_t* out_n);
  // All parts of a row, one after the other. [rows]
  bp_status (*get)(bp_env* env, uint64_t row, double* out);
  // Puts a row there, as if a reset had drawn this state, and computes its state roles (OBS, ...) anew, into the slot in which
  // a snapshot's would stand. What no part names, such as a solver's warm start, is as after a reset; the row's random stream
  // goes on. The numbers are finite; where an env refuses some all the same, the row has to be reset. [rows]
  bp_status (*set)(bp_env* env, uint64_t row, const double* values);
} bp_env_inject_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_INJECT_H_
