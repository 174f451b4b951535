// "bp.env.clock/1": the simulated duration of a step, so that films run at the env's own speed.
#ifndef BACKPLANE_EXT_CLOCK_H_
#define BACKPLANE_EXT_CLOCK_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_CLOCK_1 "bp.env.clock/1"
typedef struct bp_env_clock_1 {
  uint32_t struct_size, reserved;
  double (*step_s)(const bp_env* env);  // seconds, above 0. [any]
} bp_env_clock_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_CLOCK_H_
