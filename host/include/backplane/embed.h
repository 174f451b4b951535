// Backplane inside another program: envs stepped in its own process, and experiments run in a separate one. Link
// libbackplane_embed.so (CMake: backplane::embed). It loads neither LibTorch nor Python and does not change the process: it
// handles no signals, sets no locale and has no threads except for open envs.
//
// (1) A function that can fail returns BP_OK (0) or an error below 0 (base.h); bp_embed_error() then returns the reason, with
//     the expected and the found value. Nothing here throws, aborts or calls longjmp.
// (2) Use a handle in one thread at a time. A nested or concurrent call on the same handle (in a second thread or a signal
//     handler), a call after bp_embed_close, and any call in a child process after fork() is an error without other effects.
// (3) Pointers are non-NULL unless their comment gives NULL a meaning.
// (4) Arguments are only read during the call. Results are valid as long as their comment states.
// (5) Plugins are searched in the folders of BACKPLANE_PLUGIN_PATH (separated by ':'), then in lib/backplane/plugins of the
//     installation: the folder in BACKPLANE_HOME, else the one whose lib/ contains this library.
// A loop:
//   bp_embed* env = NULL;
//   if (bp_embed_open(NULL, "walker", "{\"frame_skip\": 2}", 64, 1, 2, &env) < 0) return puts(bp_embed_error());
//   bp_view action, obs, reward;
//   bp_embed_tensor(env, "action", &action), bp_embed_tensor(env, "obs", &obs), bp_embed_tensor(env, "reward", &reward);
//   bp_embed_reset(env, NULL, NULL);
//   for (int t = 0; t < 1000; ++t) {
//     // ... read obs, write action ...
//     if (bp_embed_step(env) < 0) return puts(bp_embed_error());
//   }
//   bp_embed_close(env);
#ifndef BACKPLANE_EMBED_H_
#define BACKPLANE_EMBED_H_

#include <stdint.h>

#include "backplane/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// The text between the two markers is plain C that Python's cffi reads unchanged.
// <embed>
typedef int32_t bp_status;

// The last error of the calling thread, one or more sentences; "" if there was none. Valid until its next call.
const char* bp_embed_error(void);
// The unknown options behind the last error, as JSON: ["frame_skp"]; [] for other errors. Valid until its next call.
const char* bp_embed_unknown_options(void);

// The version of the library, "0.1.0".
const char* bp_embed_version(void);

// Envs by id, as JSON: [{"id": "env.walker", "version", "summary", "aliases": ["Walker-v1"], "file", "rows": 32, "refused":
// null, "max_episode_steps": 200}, ...]. "rows" is a suitable number of rows, "refused" the reason for an env that cannot be
// opened here. The limit is the default of the env's option of that name, or null if it depends on more. Does not load plugins.
// Valid until the next call in the same thread; NULL: an error.
const char* bp_embed_envs(void);

// ---- An env of several rows -----------------------------------------------------------------------------------------------

typedef struct bp_embed bp_embed;

// A tensor with the layout of DLPack's DLTensor. Contiguous in row-major order; strides in elements.
typedef struct bp_view {
  void* data;                      // aligned to 64 bytes
  int32_t device_type, device_id;  // 1 (CPU), 0
  int32_t ndim;
  uint8_t code, bits;    // DLDataTypeCode: 0 signed, 1 unsigned, 2 float; bits of a number
  uint16_t lanes;        // 1
  int64_t* shape;        // [ndim]
  int64_t* strides;      // [ndim]
  uint64_t byte_offset;  // 0
} bp_view;

// The start of a row's next episode, unless the caller starts it with bp_embed_reset.
enum {
  // In the step that ends an episode: `obs` (and all other state channels) belongs to the new episode, `final_obs` contains the
  // last observation of the old one.
  BP_AUTORESET_SAME_STEP = 0,
  // In the following step, which ignores the row's action and returns the reset's `obs`, reward 0 and flags 0.
  BP_AUTORESET_NEXT_STEP = 1,
  // Never: call bp_embed_reset with a mask before the next step.
  BP_AUTORESET_DISABLED = 2
};

// Creates an env of `rows` rows.
//   so       path of a plugin file; NULL: search the env by `id`
//   id       "walker", "env.walker", or an alias ("Walker-v1"); NULL: the only env of `so`
//   options  JSON object, checked by the env's own table like options of an experiment file; NULL: the defaults.
//            "on_error": "end_episode" (default "raise") suits every env: if a row's step fails or returns an observation or
//            reward that is not finite, only its episode ends: truncated, with the observation before it, and reward 0
//   seed     of all episodes: row r has the same episode k as in a trial with this seed
//   threads  that step rows, including the caller's; 0: one per granted core. They do not affect results.
// An env that needs LibTorch or a device is BP_E_UNSUPPORTED.
bp_status bp_embed_open(const char* so, const char* id, const char* options, uint64_t rows, uint64_t seed, uint32_t threads,
                        bp_embed** out);
// Waits for a running step. Views, texts and the handle become invalid, but using the handle is still only an error.
bp_status bp_embed_close(bp_embed* env);

// Description as JSON, valid until close. NULL: an error.
//   {"id", "version", "summary", "file", "rows", "agents", "groups": [{"name", "agents"}, ...], "threads", "seed",
//    "max_episode_steps": N or null, "step_s": seconds of simulated time or null, "resets_itself": bool,
//    "autoreset": "same_step", "snapshot": bool, "picture": "svg", "png" or null, "state": [{"name": "qpos", "size": 15}, ...],
//    "options": {...}, "warnings": [...], "channels": [{"name": "obs", "role": "obs", "scope": "row" or "agent", "group": 0,
//    "space": "box", "dtype": "float32", "shape": [105], "tensor": [64, 105], "low", "high", "nvec", "by": "env" or "host"},
//    ...]}
// role: obs state action action_mask reward terminated truncated final_obs final_state alive length label loss_mask weight info
// ep_return ep_length. space: box discrete multi_discrete multi_binary tokens bytes. "shape" is per row, or per agent; "tensor"
// is the shape of the view: [rows, ...], or [rows * agents, ...] with row r's agent a at r * agents + a. "low" and "high": []
// without bounds, one for all numbers or one per number, null for no bound. "nvec": choices of each number, or []. "group": the
// number of the group whose agents the channel has, from 1; 0: all. Agents are ordered group by group.
const char* bp_embed_spec(bp_embed* env);

// The memory of a channel, fixed until close; every step writes to it. The host adds channels to the env's: `truncated`
// (uint8); `final_obs` and `final_state` (like `obs` and `state`, and `final_X` for a further channel X of OBS or STATE) with
// the last values of the episodes that the last step ended, undefined for other rows; `ep_return` (float64) and `ep_length`
// (int64) of the row's last ended episode. Callers may only write actions.
bp_status bp_embed_tensor(bp_embed* env, const char* channel, bp_view* out);

// BP_AUTORESET_*; initially SAME_STEP. A change ends all episodes, so bp_embed_reset must follow. An env that resets itself
// supports only SAME_STEP.
bp_status bp_embed_autoreset(bp_embed* env, int32_t mode);
// Enables (1, the default) or disables (0) the check of actions before a step. A number that is not finite is BP_E_NUMERIC, an
// invalid choice BP_E_INVALID_ARG, with row and index; no row is stepped then.
bp_status bp_embed_check_actions(bp_embed* env, int32_t on);

// Starts episodes in the rows with mask[r] != 0; mask [rows], NULL: all rows. seeds [rows]: row r starts with seeds[r], and its
// later episodes depend only on it, not on the row's number; NULL: continues each row's series of seeds, which starts with
// `seed`. Reward and flags of these rows become 0.
bp_status bp_embed_reset(bp_embed* env, const uint8_t* mask, const uint64_t* seeds);
// Sets the seed as if the env was opened with it: the next bp_embed_reset without seeds starts each row's first episode of it.
bp_status bp_embed_seed(bp_embed* env, uint64_t seed);

// Sets the steps after which the host truncates an episode, instead of the env's max_episode_steps; 0: never. A running episode
// keeps its length. An env that truncates episodes itself is BP_E_UNSUPPORTED.
bp_status bp_embed_time_limit(bp_embed* env, uint64_t steps);

// Steps all rows with the actions in their channels. An error of the env ends all episodes.
bp_status bp_embed_step(bp_embed* env);
// The same in two halves. In between, other threads step the rows, and no channel may be read or written.
bp_status bp_embed_step_send(bp_embed* env);
bp_status bp_embed_step_wait(bp_embed* env);
// With on_error "end_episode": the error that ended the row's episode in the last step; "": none. Valid until the next step.
// NULL: an error.
const char* bp_embed_error_of(bp_embed* env, uint64_t row);

// All rows with their episodes as bytes. bp_embed_load resumes from them, bit for bit, in an env with the same id, version,
// options and rows. *out_n: their number. buf NULL: only sets *out_n; cap < *out_n is BP_E_INVALID_ARG.
bp_status bp_embed_save(bp_embed* env, void* buf, uint64_t cap, uint64_t* out_n);
bp_status bp_embed_load(bp_embed* env, const void* buf, uint64_t n);

// A named part of a row's state, as listed by "state" of the spec: *out_n numbers, of which at most cap are written.
bp_status bp_embed_get_state(bp_embed* env, uint64_t row, const char* name, double* out, uint64_t cap, uint64_t* out_n);
// Sets a row's state, as if its reset had drawn it, and recomputes its observation; parts that are not named keep their values.
// n parts: names[n], values[i] of sizes[i] numbers. The episode continues with its length, limit and return.
bp_status bp_embed_set_state(bp_embed* env, uint64_t row, uint64_t n, const char* const* names, const double* const* values,
                             const uint64_t* sizes);

// A picture of a row, as the env draws it (backplane/ext/render.h): the frame belongs over the backdrop.
typedef struct bp_picture {
  uint32_t format;         // 1: the elements inside an <svg>, 2: a PNG file
  uint32_t width, height;  // pixels
  uint32_t reserved;
  const void *backdrop, *frame;  // valid until the next picture of the env
  uint64_t backdrop_bytes, frame_bytes;
} bp_picture;
// Draws a row's state, also after the end of its episode. An env that draws none is BP_E_UNSUPPORTED ("picture" of the spec).
bp_status bp_embed_render(bp_embed* env, uint64_t row, bp_picture* out);

// ---- A trained policy -----------------------------------------------------------------------------------------------------

typedef struct bp_embed_policy bp_embed_policy;

// Loads the policy of a trial, with the trial's own plugins. It chooses the actions of an evaluation: deterministic, within
// their bounds, from observations as the env returns them.
//   out         the results folder
//   trial       its name, id or start of the id; NULL: the only trial
//   checkpoint  "best", "last" or a number of iterations; NULL: "last"
//   rows        observations per call
// A plugin that needs LibTorch or a device is BP_E_UNSUPPORTED. Without plugins, use `backplane export policy`.
bp_status bp_embed_policy_open(const char* out, const char* trial, const char* checkpoint, uint64_t rows,
                               bp_embed_policy** policy);
// The memory of a channel of the trial's env, fixed until close: write "obs" (and "action_mask"), read "action".
bp_status bp_embed_policy_tensor(bp_embed_policy* policy, const char* channel, bp_view* out);
// Chooses the actions of all rows. A policy with a memory (a recurrent net) remembers the earlier calls, row by row.
bp_status bp_embed_policy_act(bp_embed_policy* policy);
// Starts new episodes: clears the memory of the rows with mask[row] != 0; NULL: of all rows. Call it when an episode ends. A
// policy without a memory ignores it.
bp_status bp_embed_policy_reset(bp_embed_policy* policy, const uint8_t* mask);
bp_status bp_embed_policy_close(bp_embed_policy* policy);

// ---- An experiment in a separate process ----------------------------------------------------------------------------------

enum {
  BP_RUN_STARTED = 1,  // text: the results folder
  BP_RUN_EVENT,        // text: a line of events.jsonl; trial and attempt, if it concerns one
  BP_RUN_METRICS,      // text: a line of an attempt's metrics.jsonl, one per iteration
  BP_RUN_PROGRESS,     // text: progress.json, after each change
  BP_RUN_LOG,          // text: a line of the program's log
  BP_RUN_WAITING,      // nothing new; about ten times a second
  BP_RUN_ENDED         // text: the JSON of `backplane run --json`, or ""; always last
};

typedef struct bp_run_news {
  uint32_t struct_size, kind;  // BP_RUN_*
  const char* text;            // for the call
  const char* trial;           // id, for the call; NULL: none
  uint32_t attempt, reserved;  // 0: none
} bp_run_news;

// Runs `backplane run` of the installation (5) on an experiment file or a results folder, with further arguments ("--set",
// "budget.iterations=3", "--out", ...; ends with NULL; NULL: none), and returns when it has ended. Calls on_news (NULL: none)
// on the calling thread, also while a cancelled run ends. It returns 0 to continue; any other value cancels like Ctrl-C:
// running trials save themselves, and `backplane run` of the same file resumes them. A later 2 acts like a second Ctrl-C, which
// ends them immediately. It must return normally, without an exception or longjmp. The run always ends with this process.
// *out_exit (may be NULL): its exit code, -1 if it had none. BP_OK: it exited with 0. BP_E_CANCELLED: cancelled. BP_E_CONFIG:
// the file or the arguments are wrong (2), BP_E_IO: it could not be started, else BP_E_INTERNAL; bp_embed_error() returns its
// messages.
bp_status bp_run(const char* file, const char* const* arguments, int32_t (*on_news)(void* context, const bp_run_news* news),
                 void* context, int32_t* out_exit);
// </embed>

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EMBED_H_
