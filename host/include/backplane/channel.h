// Channels: the named arrays through which envs and learners exchange data. The host owns every buffer and binds each once.
//
// A channel's buffer has one leading dimension: N rows for BP_SCOPE_ROW, N * max_agents for BP_SCOPE_AGENT (row r, agent a at r
// * max_agents + a). In a rollout a time dimension precedes it; its stride is padded to 64 bytes. The first channel of a role
// is named after it in lower case ("obs", "action", "reward", "terminated"). So every learner finds it in every env. Further
// channels of a role have names of their own; "final_X" has the last observations of a further OBS or STATE channel X. INFO
// channels named "ep/..." are averaged over the episodes that end.
//
// Agents whose channels differ form groups (env.h). A channel of group g has N * A entries, A being the agents of the group:
// row r, agent i of the group at r * A + i. It is named GROUP/ROLE, such as "good/obs". Since 1.2
#ifndef BACKPLANE_CHANNEL_H_
#define BACKPLANE_CHANNEL_H_

#include "backplane/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BP_ROLE_OBS = 1,      // state role: T+1 entries in a rollout
  BP_ROLE_STATE,        // state role; global, for critics
  BP_ROLE_ACTION,       // the only input of an env
  BP_ROLE_ACTION_MASK,  // state role; uint8, 1 = allowed
  BP_ROLE_REWARD,       // transition role, like all below unless marked
  BP_ROLE_TERMINATED,   // uint8, ROW scope
  BP_ROLE_TRUNCATED,    // uint8, ROW scope; the host fills it unless BP_FLAG_OWNS_TIME_LIMIT
  BP_ROLE_FINAL_OBS,    // filled by the host
  BP_ROLE_FINAL_STATE,  // filled by the host
  BP_ROLE_ALIVE,        // state role; uint8, AGENT scope; 1 to 0 only within an episode
  BP_ROLE_LENGTH,       // state role; int32
  BP_ROLE_LABEL,
  BP_ROLE_LOSS_MASK,
  BP_ROLE_WEIGHT,
  BP_ROLE_INFO,
  BP_ROLE_EXTRA = 18,  // a learner's output in addition to ACTION (logp, value, ...)
  BP_ROLE_CARRY        // state role; a learner's memory of the episode (see learner.h). Since 1.1
};
enum { BP_SPACE_BOX = 1, BP_SPACE_DISCRETE, BP_SPACE_MULTI_DISCRETE, BP_SPACE_MULTI_BINARY, BP_SPACE_TOKENS, BP_SPACE_BYTES };
enum { BP_SCOPE_ROW = 1, BP_SCOPE_AGENT };

typedef struct bp_channel {
  uint32_t struct_size;
  uint16_t role, space, scope, ndim;
  bp_dtype dtype;  // float32 unless there is a reason; flags uint8, DISCRETE and TOKENS int32
  const char* name;
  const int64_t* shape;      // [ndim], without the row dimension; NULL when ndim is 0
  const double *low, *high;  // [n_bounds]; NULL when n_bounds is 0
  const int64_t* nvec;       // DISCRETE, TOKENS: [1]; MULTI_DISCRETE: one per element; else NULL
  uint64_t n_bounds;         // 0 none, 1 one for all elements, or one per element
  // AGENT scope: 0 all agents of a row, g the agents of the g-th group only. OBS, ACTION and ACTION_MASK, and a learner's EXTRA
  // and CARRY. Since 1.2
  uint32_t group, reserved;
} bp_channel;

// One time slot of bound buffers, `tensors[i]` for channel i of the spec; NULL if the slot has no such entry.
typedef struct bp_frame {
  uint32_t struct_size, slot;
  bp_tensor* const* tensors;
  void* stream;  // device stream, NULL on the CPU
} bp_frame;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_CHANNEL_H_
