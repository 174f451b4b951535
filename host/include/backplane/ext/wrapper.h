// "bp.host.env/1" and "bp.env.wrapper/1": wrappers, envs over another env, such as a frame stack. A wrapper has the flag
// BP_FLAG_WRAPPER and the function table of an env. Its host creates the env below first and serves its calls.
//
// Channels: the spec of a wrapper declares only the channels that it replaces, under their names, and further ones. All other
// channels of the env below are the same memory for the env above, except those that the wrapper hides. The host allocates the
// buffers of replaced and hidden channels; the wrapper copies between them and its own. `bind` of a wrapper gets its own
// channels only, in the order of its spec.
//
// Calls: `reset` and `step` of a wrapper call `reset` and `step` of the env below, for its rows or parts of them, with the
// same slot. A step may call `step` below several times. It must not call it for a row whose TERMINATED or TRUNCATED is 1,
// before the wrapper's `reset` has called `reset` below.
//
// Limits: the spec of an env below has a TRUNCATED channel, in which the host writes the end by the time limit of that env.
// max_episode_steps of a wrapper counts its own steps, and the host truncates there, too; 0: only the env below ends episodes.
// max_agents, groups and device of a wrapper's spec are ignored.
//
// Snapshots: the host saves the states of all envs of the chain. A wrapper without "bp.env.snapshot/1" has a memory that is
// lost on resume, so the chain then starts new episodes. A wrapper without memory offers snapshots of no bytes of its own.
// Pictures, the clock, named states and parameters come from the innermost env.
#ifndef BACKPLANE_EXT_WRAPPER_H_
#define BACKPLANE_EXT_WRAPPER_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

// A flag of the descriptor: the env needs "bp.host.env/1". Experiments name it in `env.wrappers`.
#define BP_FLAG_WRAPPER 64

#define BP_HOST_ENV_1 "bp.host.env/1"
typedef struct bp_host_env_1 {
  uint32_t struct_size, reserved;
  // The spec of the env below, owned by the host until the wrapper's `destroy`. [any], also during create
  const bp_env_spec* (*spec)(const bp_host* host);
  // The frames to which the host has bound the env below, with the channels of `spec`; valid until the wrapper's next `bind`.
  // BP_E_INVALID_ARG before the first one. [any]
  bp_status (*bind)(const bp_host* host, const bp_frame** out_frames, uint64_t* out_n);
  // Like the calls of bp_env_api. An error is to be returned by the caller; the host adds the sentence of the env below. [rows]
  bp_status (*reset)(const bp_host* host, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask,
                     const uint64_t* seeds);
  bp_status (*step)(const bp_host* host, uint32_t slot, uint64_t begin, uint64_t end);
} bp_host_env_1;

#define BP_ENV_WRAPPER_1 "bp.env.wrapper/1"
typedef struct bp_env_wrapper_1 {
  uint32_t struct_size, reserved;
  // 1 if the env above does not have this channel of the env below; the same in every call. Optional: without the extension, a
  // wrapper hides none. [any]
  int32_t (*hides)(const bp_env* env, const char* channel);
} bp_env_wrapper_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_WRAPPER_H_
