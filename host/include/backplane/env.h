// The env kind. One instance holds all rows of a trial over one shared immutable model.
//
// Zero-copy rollout of T steps: T+1 slots. Slot t < T contains ACTION[t], entry t of the transition roles and entry t+1 of the
// state roles. Slot T has state entry 0 and is only for resets at the start of a rollout; its transition tensors are NULL. An
// instance bound to a single slot (evaluation, embedding) reads ACTION and writes everything else there.
#ifndef BACKPLANE_ENV_H_
#define BACKPLANE_ENV_H_

#include "backplane/channel.h"
#include "backplane/host.h"
#include "backplane/module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_env bp_env;  // the plugin's own

// Agents of a row with the same channels. Since 1.2
typedef struct bp_group {
  uint32_t struct_size, agents;  // agents: per row, 1 or more
  const char* name;              // prefix of its channels
} bp_group;

typedef struct bp_env_spec {
  uint32_t struct_size, max_agents;  // max_agents: 1 without AGENT scope
  const bp_channel* channels;        // [n_channels]
  uint64_t n_channels;
  int64_t max_episode_steps;  // 0: no limit. The host counts and truncates.
  bp_device device;           // of all channels; type 0, the initial value, is the CPU
  // [n_groups]; none: all agents have the same channels. Each agent belongs to one group, and each group has OBS and ACTION. A
  // row's agents are numbered group by group, in this order: the first agent of group 2 follows the last one of group 1 in
  // REWARD, ALIVE and every other channel of all agents. The host rejects a learner without BP_LEARNER_GROUPS. Since 1.2
  const bp_group* groups;
  uint64_t n_groups;
} bp_env_spec;

typedef struct bp_env_api {
  uint32_t struct_size, reserved;
  // [control]
  bp_status (*create)(const bp_host* host, const bp_config* config, uint64_t rows, bp_env** out_env);
  void (*destroy)(bp_env* env);                   // [control]
  const bp_env_spec* (*spec)(const bp_env* env);  // owned by the env, until destroy. [any]
  // Binds the buffers of all slots; they stay valid until the next bind or destroy. The frames array and the tensor structs
  // live as long as the buffers. [control]
  bp_status (*bind)(bp_env* env, const bp_frame* frames, uint64_t n_frames);
  // Starts new episodes in the rows of [begin, end) with mask[r] != 0 (mask NULL: all), row r from seeds[r]; both arrays are
  // indexed by absolute row. Writes the state roles of those rows for `slot` and nothing else. [rows]
  bp_status (*reset)(bp_env* env, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
  // One step of rows [begin, end). Never resets, allocates or locks; writes every output of its rows. [rows]
  bp_status (*step)(bp_env* env, uint32_t slot, uint64_t begin, uint64_t end);
  const void* (*get_extension)(const bp_env* env, const char* id);  // NULL: unknown id. [any]
} bp_env_api;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_ENV_H_
