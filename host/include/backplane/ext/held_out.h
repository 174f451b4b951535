// "bp.learner.held_out/1": the loss of data that are not used for learning. The host divides it by the weight of the items and
// reports it as `loss` of an evaluation.
#ifndef BACKPLANE_EXT_HELD_OUT_H_
#define BACKPLANE_EXT_HELD_OUT_H_

#include "backplane/learner.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_LEARNER_HELD_OUT_1 "bp.learner.held_out/1"
typedef struct bp_learner_held_out_1 {
  uint32_t struct_size, reserved;
  // Sum of the loss over one micro-batch, a DATA delivery; does not change the learner. [control] With BP_LEARNER_HELD_OUT_ANY
  // in the spec's flags [any]: a thread that plays rows of an evaluation requests their items right after them, so that the
  // results of `act` for an item can be reused.
  bp_status (*loss)(bp_learner* learner, const bp_delivery* micro_batch, double* out_sum);
} bp_learner_held_out_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_HELD_OUT_H_
