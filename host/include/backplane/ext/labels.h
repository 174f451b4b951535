// "bp.env.labels/1": names and units of the numbers in a channel, for people who use a policy elsewhere. Training never calls
// it.
#ifndef BACKPLANE_EXT_LABELS_H_
#define BACKPLANE_EXT_LABELS_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_ENV_LABELS_1 "bp.env.labels/1"
typedef struct bp_env_labels_1 {
  uint32_t struct_size, reserved;
  // Writes name and unit of element i of a channel, such as "angle of hip_1" and "rad", each in at most `size` bytes with the
  // final NUL; longer texts are cut. The unit is empty for a number without one, such as a cosine. Returns 1, or 0 without
  // writing if the env does not declare them. [any]
  uint32_t (*label)(const bp_env* env, const char* channel, uint64_t i, char* out_name, char* out_unit, uint64_t size);
} bp_env_labels_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_LABELS_H_
