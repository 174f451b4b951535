// "bp.env.source/1": an env that is also a data set. Items are read in groups, in an order determined by a seed. Reading is
// independent of the stepped rows, and needs no `bind`.
//
// An item fills the env's own channels of the roles OBS, LENGTH, LABEL, LOSS_MASK and WEIGHT. A LENGTH channel named
// "<channel>_length" counts the leading elements of <channel> that belong to the item; the rest is padding with a valid value,
// so that the host can trim a micro-batch to its longest row. WEIGHT is the weight of an item in the loss of its group, e.g.
// its number of label tokens; the default is 1.
#ifndef BACKPLANE_EXT_SOURCE_H_
#define BACKPLANE_EXT_SOURCE_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_SOURCE_1 "bp.env.source/1"
typedef struct bp_env_source_1 {
  uint32_t struct_size, reserved;
  uint64_t (*length)(const bp_env* env);  // items per epoch, at least 1. [any]
  // Writes items [first, first + n) of an epoch into rows 0 .. n-1 of the frame's tensors [n, ...]; tensors[i] is for channel i
  // of the spec, NULL if the channel is not part of an item. The same seed gives the same order, a permutation of all items;
  // seed 0 is the order of the data. The host uses bp_seed(trial seed, BP_PURPOSE_SOURCE, 0, epoch). [control]
  bp_status (*read)(bp_env* env, uint64_t seed, uint64_t first, uint64_t n, const bp_frame* frame);
} bp_env_source_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_SOURCE_H_
