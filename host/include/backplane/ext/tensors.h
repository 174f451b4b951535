// "bp.learner.tensors/1": the weights of a learner as named tensors. The host hashes them at the end of every iteration, to
// find the iteration and the tensor in which two trials first differ. Without it the host hashes the saved state (ext/state.h),
// whose parts are unknown, if it is saved each iteration anyway.
#ifndef BACKPLANE_EXT_TENSORS_H_
#define BACKPLANE_EXT_TENSORS_H_

#include "backplane/learner.h"

#ifdef __cplusplus
extern "C" {
#endif

// Weights first, in the order of the data flow; then the other inputs of the next update: an optimiser's moments and steps,
// statistics of a normaliser. Tensors are in host memory and contiguous except for the stride of dimension 0, whose padding the
// host skips. Values on a device may be left out to avoid a copy per iteration; with n 0 no tensor is hashed.
typedef struct bp_named_tensors {
  uint32_t struct_size, reserved;
  uint64_t n;
  const char* const* names;   // [n], distinct
  bp_tensor* const* tensors;  // [n]
} bp_named_tensors;

#define BP_LEARNER_TENSORS_1 "bp.learner.tensors/1"
typedef struct bp_learner_tensors_1 {
  uint32_t struct_size, reserved;
  // Fills in `out`. Its pointers belong to the learner, are valid until its next call, and are only read. [control]
  bp_status (*get)(bp_learner* learner, bp_named_tensors* out);
} bp_learner_tensors_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_TENSORS_H_
