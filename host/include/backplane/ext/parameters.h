// "bp.env.parameters/1": physical parameters of an env that a person may scale, such as the mass of all bodies. To test how a
// policy behaves if the world differs from its training. Training never calls it.
#ifndef BACKPLANE_EXT_PARAMETERS_H_
#define BACKPLANE_EXT_PARAMETERS_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_PARAMETERS_1 "bp.env.parameters/1"
typedef struct bp_env_parameters_1 {
  uint32_t struct_size, reserved;
  // Name of parameter i, such as "mass", and a sentence about it; NULL without writing beyond the last one. The texts live as
  // long as the env. [any]
  const char* (*parameter)(const bp_env* env, uint64_t i, const char** out_help);
  // Sets parameter i of all rows to `factor` times its value at creation; other parameters keep their factors. With the factor
  // 1 for all, the env is bit for bit as created. Rows must be reset before the next step. [control]
  bp_status (*scale)(bp_env* env, uint64_t i, double factor);
} bp_env_parameters_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_PARAMETERS_H_
