// "bp.env.source/1": a dataset is an env that can be read as a source; a micro-batch is a step. TERMINATED marks the end of an
// epoch, WEIGHT 0 the missing rows of a short last group. The epoch's order is keyed by
// bp_seed(trial seed, BP_PURPOSE_SOURCE, 0, epoch).
#ifndef BACKPLANE_EXT_SOURCE_H_
#define BACKPLANE_EXT_SOURCE_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_SOURCE_1 "bp.env.source/1"
typedef struct bp_env_source_1 {
  uint32_t struct_size, reserved;
  uint64_t (*length)(const bp_env* env);                            // items of one epoch. [any]
  bp_status (*seek)(bp_env* env, uint64_t epoch, uint64_t item);    // next step starts here. [control]
  bp_status (*shard)(bp_env* env, uint64_t index, uint64_t count);  // read only items index, index + count, ... [control]
} bp_env_source_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_SOURCE_H_
