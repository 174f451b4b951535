// "bp.learner.state/1" and "bp.env.state/1": the complete state for resuming, through byte streams of the host. Equal states
// give equal bytes. Without it a learner cannot resume. `load` reads everything that `save` wrote, but must not trust it:
// excess bytes and wrong sizes are errors. The host destroys an instance that rejected a state.
//
// A learner's plan depends only on its state and the limits. A rollout worker's learner repeatedly loads the trial's state,
// plans like the trial, and plays a part of the same request. So `load` replaces everything, including a plan that was not
// served.
#ifndef BACKPLANE_EXT_STATE_H_
#define BACKPLANE_EXT_STATE_H_

#include "backplane/learner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_writer {
  uint32_t struct_size, reserved;
  void* impl;
  bp_status (*write)(const struct bp_writer* writer, const void* data, uint64_t n);
} bp_writer;

typedef struct bp_reader {
  uint32_t struct_size, reserved;
  void* impl;
  bp_status (*read)(const struct bp_reader* reader, void* out, uint64_t n);  // all n bytes, or BP_E_IO
} bp_reader;

#define BP_LEARNER_STATE_1 "bp.learner.state/1"
typedef struct bp_learner_state_1 {
  uint32_t struct_size, reserved;
  bp_status (*save)(bp_learner* learner, const bp_writer* writer);  // [control]
  bp_status (*load)(bp_learner* learner, const bp_reader* reader);  // [control]
} bp_learner_state_1;

#define BP_ENV_STATE_1 "bp.env.state/1"
typedef struct bp_env_state_1 {
  uint32_t struct_size, reserved;
  bp_status (*save)(bp_env* env, const bp_writer* writer);  // [control]
  bp_status (*load)(bp_env* env, const bp_reader* reader);  // [control]
} bp_env_state_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_STATE_H_
