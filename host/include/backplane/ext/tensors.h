// "bp.learner.tensors/1": what a learner has learned, as tensors with names. The host hashes them at the end of every
// iteration, so that two runs that part are told where: in which iteration, and in which of these. Without it the host hashes
// the saved state (ext/state.h), of which nobody knows the parts, where it is saved each iteration anyway.
#ifndef BACKPLANE_EXT_TENSORS_H_
#define BACKPLANE_EXT_TENSORS_H_

#include "backplane/learner.h"

#ifdef __cplusplus
extern "C" {
#endif

// Weights first, in the order in which data passes through them; then what else decides the next update: an optimiser's moments
// and steps, statistics of a normaliser. Tensors lie in the host's memory and are contiguous but for the stride of dimension 0,
// of which the host skips the padding. Numbers that the device keeps may be left out rather than copied every iteration; with n
// 0 nothing is hashed.
typedef struct bp_named_tensors {
  uint32_t struct_size, reserved;
  uint64_t n;
  const char* const* names;   // [n], each once
  bp_tensor* const* tensors;  // [n]
} bp_named_tensors;

#define BP_LEARNER_TENSORS_1 "bp.learner.tensors/1"
typedef struct bp_learner_tensors_1 {
  uint32_t struct_size, reserved;
  // Fills in `out`. What it points to is the learner's, stays until the next call of the learner, and is only read. [control]
  bp_status (*get)(bp_learner* learner, bp_named_tensors* out);
} bp_learner_tensors_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_TENSORS_H_
