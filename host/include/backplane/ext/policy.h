// "bp.learner.policy/1": everything that `act` reads and training changes (weights, normaliser), without the optimiser, through
// the byte streams of ext/state.h. Equal policies give equal bytes, on any device. The host saves a policy after `plan` and
// loads it into instances with the same options that only act: rollout workers. Without it they get the whole state.
#ifndef BACKPLANE_EXT_POLICY_H_
#define BACKPLANE_EXT_POLICY_H_

#include "backplane/ext/state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_LEARNER_POLICY_1 "bp.learner.policy/1"
typedef struct bp_learner_policy_1 {
  uint32_t struct_size, reserved;
  bp_status (*save)(bp_learner* learner, const bp_writer* writer);  // [control]
  // Reads everything that `save` wrote and rejects a policy of a different shape. `act` may follow without a `plan`; the rest
  // of the learner's state stays. [control]
  bp_status (*load)(bp_learner* learner, const bp_reader* reader);
  // The form of the net as JSON, an object with "kind" and its sizes; owned by the learner, until destroy. [control]
  const char* (*form)(bp_learner* learner);
} bp_learner_policy_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_POLICY_H_
