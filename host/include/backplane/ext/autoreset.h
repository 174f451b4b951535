// "bp.env.autoreset/1": inputs and duties of an env with BP_FLAG_NATIVE_AUTORESET. Such an env processes all its rows in one
// call. It ends episodes at the time limit itself (it has BP_FLAG_OWNS_TIME_LIMIT too). The `step` that ends an episode of a
// row starts the next one. The host then need not read flags between steps, which would wait for a device.
//
// It declares FINAL_OBS, and FINAL_STATE if it has STATE, with the shape and scope of OBS and STATE (one each per channel, in
// their order). If a row's TERMINATED or TRUNCATED is 1, they contain the last values of the episode; otherwise they are
// undefined. INFO "ep/..." of such a row belongs to the ended episode, the state roles to the new one.
//
// An env without the flag may offer `next_seeds`, too. The host still calls `reset`, normally with these seeds in this order,
// so the env may start the next episode of a row early, while it works on the step that ends the last one.
#ifndef BACKPLANE_EXT_AUTORESET_H_
#define BACKPLANE_EXT_AUTORESET_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_AUTORESET_1 "bp.env.autoreset/1"
typedef struct bp_env_autoreset_1 {
  uint32_t struct_size, reserved;
  // Sets the seeds of the next `per_row` episodes of each row: seeds[row * per_row + k] is for the k-th of them. Copies them
  // and drops earlier ones. A `reset` uses its own seed instead. An env with the flag gets as many as a rollout can use at
  // most. [control]
  bp_status (*next_seeds)(bp_env* env, uint64_t per_row, const uint64_t* seeds);
} bp_env_autoreset_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_AUTORESET_H_
