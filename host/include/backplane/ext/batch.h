// "bp.env.batch/1": an env whose rows are one batch, such as a simulation that steps all its worlds by one call of a GPU. It
// differs from an env with BP_FLAG_NATIVE_AUTORESET: the host starts its episodes, row by row or many at the same time.
//
// If `whole` returns 1, every `reset` and `step` covers [0, rows), and the mask of `reset` lists the rows that start. While
// candidates are evaluated, `act` covers [0, rows) too. A row without a candidate (-1) plays on, with the action that `act`
// writes or the one before, and is reset when its episode ends. The env does not have BP_FLAG_ROWS_CONCURRENT.
#ifndef BACKPLANE_EXT_BATCH_H_
#define BACKPLANE_EXT_BATCH_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_BATCH_1 "bp.env.batch/1"
typedef struct bp_env_batch_1 {
  uint32_t struct_size, reserved;
  int32_t (*whole)(const bp_env* env);  // 1 or 0, the same in every call. [any]
} bp_env_batch_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_BATCH_H_
