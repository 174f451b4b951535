// "bp.env.autoreset/1": inputs and duties of an env with BP_FLAG_NATIVE_AUTORESET. Such an env works on all its rows in one
// call, cuts episodes itself (it has BP_FLAG_OWNS_TIME_LIMIT too), and starts the next episode of a row in the very `step` that
// ends one, so that the host need not look at flags between two steps: on a device that would wait for it.
//
// It declares FINAL_OBS, and FINAL_STATE if it has STATE, with the shape and scope of OBS and STATE (of several channels one
// each, in their order): where a row's TERMINATED or TRUNCATED is 1 they hold the last values of the episode, elsewhere
// anything. INFO "ep/..." of such a row is of the ended episode; the state roles belong to the new one.
#ifndef BACKPLANE_EXT_AUTORESET_H_
#define BACKPLANE_EXT_AUTORESET_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_AUTORESET_1 "bp.env.autoreset/1"
typedef struct bp_env_autoreset_1 {
  uint32_t struct_size, reserved;
  // Seeds of the next `per_row` episodes of each row, seeds[row * per_row + k] the k-th to come; copied. They replace those
  // given before. A `reset` takes its own seed and not one of these. The host gives as many as a rollout can use at most.
  // [control]
  bp_status (*next_seeds)(bp_env* env, uint64_t per_row, const uint64_t* seeds);
} bp_env_autoreset_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_AUTORESET_H_
