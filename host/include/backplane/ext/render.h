// "bp.env.render/1": pictures of single rows, for people. The film of a row consists of a backdrop per episode and a frame per
// state. All are images of one size and format; frames have a transparent background. The host calls it only for an instance
// bound to one slot, between its other calls, so a picture may show the state after `step`.
#ifndef BACKPLANE_EXT_RENDER_H_
#define BACKPLANE_EXT_RENDER_H_

#include "backplane/env.h"
#include "backplane/ext/state.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BP_RENDER_SVG = 1, BP_RENDER_PNG = 2 };

#define BP_ENV_RENDER_1 "bp.env.render/1"
typedef struct bp_env_render_1 {
  uint32_t struct_size;
  uint32_t format;  // BP_RENDER_*. SVG: only the elements inside <svg>, in pixel units; no scripts, ids or links
  bp_status (*size)(const bp_env* env, uint32_t* out_width, uint32_t* out_height);  // pixels. [any]
  // The parts that are constant during an episode; may be empty. [control]
  bp_status (*backdrop)(bp_env* env, uint64_t row, const bp_writer* out);
  // The row's present state. [control]
  bp_status (*frame)(bp_env* env, uint64_t row, const bp_writer* out);
} bp_env_render_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_RENDER_H_
