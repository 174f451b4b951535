// Backplane inside another program: envs stepped in its own process, and experiments run in a separate one. Link
// libbackplane_embed.so (CMake: backplane::embed), which brings neither LibTorch nor Python and leaves the process as it is: it
// handles no signal, sets no locale and has no threads except for open envs.
//
// (1) A function that can fail returns BP_OK (0) or an error below 0 (base.h); bp_embed_error() then returns the reason, with
//     the expected and the found value. Nothing here throws, aborts or calls longjmp.
// (2) A handle is used by one thread at a time. A call inside a call of the same handle (of a second thread, of a signal
//     handler), a call after bp_embed_close, and any call in a child process after fork() is an error, and touches nothing.
// (3) Pointers are non-NULL unless their comment gives NULL a meaning.
// (4) Arguments are read during the call only. Results live as long as stated there.
// (5) Plugins are looked for in the folders of BACKPLANE_PLUGIN_PATH (separated by ':'), then in lib/backplane/plugins of the
//     installation: of the folder that BACKPLANE_HOME names, else of the one whose lib/ holds this library.
//
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

// The last error of the calling thread, a sentence or several lines of them; "" if there was none. Until its next call.
const char* bp_embed_error(void);
// The given options that the env does not have, if they were that error, as JSON: ["frame_skp"]; else []. Until its next call.
const char* bp_embed_unknown_options(void);

// The version of the library, "0.1.0".
const char* bp_embed_version(void);

// Envs by id, as JSON: [{"id": "env.walker", "version", "summary", "aliases": ["Walker-v1"], "file", "rows": 32, "refused":
// null}, ...]. "rows" is a suitable number of rows; the last value is the reason why the env cannot be opened here, or null.
// Does not load plugins. Valid until the next call in the same thread; NULL: an error.
const char* bp_embed_envs(void);

// ---- An env of several rows -----------------------------------------------------------------------------------------------

typedef struct bp_embed bp_embed;

// A tensor, laid out as DLPack's DLTensor. Contiguous in row-major order; strides in elements.
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

// When a row's next episode begins, where it is not the caller's bp_embed_reset that begins it.
enum {
  // In the step that ends one: the channel `obs` (and all other state channels) belongs to the new episode, `final_obs` holds
  // the last observation of the old one.
  BP_AUTORESET_SAME_STEP = 0,
  // In the step after the one that ends one: that step ignores the row's action, and gives the reset's `obs`, reward 0 and
  // flags 0.
  BP_AUTORESET_NEXT_STEP = 1,
  // Never: bp_embed_reset with a mask, before the next step.
  BP_AUTORESET_DISABLED = 2
};

// Makes an env of `rows` rows.
//   so       path of a plugin file; NULL: the env is looked for by `id`
//   id       "walker", "env.walker", or another name it goes by ("Walker-v1"); NULL: the only env of `so`
//   options  JSON object, checked by the env's own table like options of an experiment file; NULL: the defaults
//   seed     of all episodes: row r plays in its episode k the same as in a trial with this seed
//   threads  that step rows, the caller's one of them; 0: one for each core granted. No result depends on them.
// An env built against LibTorch, and one on a device, is BP_E_UNSUPPORTED.
bp_status bp_embed_open(const char* so, const char* id, const char* options, uint64_t rows, uint64_t seed, uint32_t threads,
                        bp_embed** out);
// Waits for a step under way. Views, texts and the handle are dead afterwards, but using the handle is still only an error.
bp_status bp_embed_close(bp_embed* env);

// Description as JSON, valid until close. NULL: an error.
//   {"id", "version", "summary", "file", "rows", "agents", "threads", "seed",
//    "max_episode_steps": N or null, "step_s": seconds of simulated time or null, "resets_itself": bool,
//    "autoreset": "same_step", "snapshot": bool, "state": [{"name": "qpos", "size": 15}, ...], "options": {...},
//    "warnings": [...], "channels": [{"name": "obs", "role": "obs", "scope": "row" or "agent", "space": "box",
//    "dtype": "float32", "shape": [105], "tensor": [64, 105], "low", "high", "nvec", "by": "env" or "host"}, ...]}
// role: obs state action action_mask reward terminated truncated final_obs final_state alive length label loss_mask weight info
// ep_return ep_length. space: box discrete multi_discrete multi_binary tokens bytes. "shape" is of one row, or of one agent of
// it; "tensor" is the shape of the view: [rows, ...], or [rows * agents, ...] with row r's agent a at r * agents + a. "low" and
// "high":
// [] without bounds, one for all numbers or one for each, null for no bound; "nvec": choices of each number, or [].
const char* bp_embed_spec(bp_embed* env);

// The memory of a channel: it stays where it is until close, and every step writes there. Channels of the env, and of the host:
// `truncated` (uint8), `final_obs` and `final_state` (as `obs` and `state`: the last values of the episodes that the last
// step ended; other rows hold anything; for a further channel X of OBS or STATE `final_X`), `ep_return` (float64) and
// `ep_length` (int64) of the row's last episode that ended. Only the actions are for the caller to write.
bp_status bp_embed_tensor(bp_embed* env, const char* channel, bp_view* out);

// BP_AUTORESET_*; SAME_STEP at first. Another mode than before ends all episodes: bp_embed_reset comes next. An env that resets
// itself has SAME_STEP only.
bp_status bp_embed_autoreset(bp_embed* env, int32_t mode);
// Switches the check of actions before a step: 1 is the default, 0 skips it. A number that is not finite is BP_E_NUMERIC, an
// invalid choice BP_E_INVALID_ARG, with row and index; no row is stepped then.
bp_status bp_embed_check_actions(bp_embed* env, int32_t on);

// Starts episodes in the rows with mask[r] != 0; mask [rows], NULL: all rows. seeds [rows]: row r starts from seeds[r], and
// its later episodes follow from that alone, whatever the row's number; NULL: from the next seed of its series, which starts
// with `seed`. Reward and flags of these rows become 0.
bp_status bp_embed_reset(bp_embed* env, const uint8_t* mask, const uint64_t* seeds);
// As if opened with this seed: the next bp_embed_reset without seeds starts each row's first episode of it.
bp_status bp_embed_seed(bp_embed* env, uint64_t seed);

// One step of all rows with the actions that stand in their channels. An error of the env ends all episodes.
bp_status bp_embed_step(bp_embed* env);
// The same in two halves: in between the rows are stepped by other threads, and no channel may be read or written.
bp_status bp_embed_step_send(bp_embed* env);
bp_status bp_embed_step_wait(bp_embed* env);

// All rows with their episodes as bytes. bp_embed_load of an env with the same id, version, options and rows resumes from them,
// bit for bit. *out_n: their number. buf NULL: only sets *out_n; cap < *out_n is BP_E_INVALID_ARG.
bp_status bp_embed_save(bp_embed* env, void* buf, uint64_t cap, uint64_t* out_n);
bp_status bp_embed_load(bp_embed* env, const void* buf, uint64_t n);

// A part of a row's state by name, as "state" of the spec lists them: *out_n numbers, of which at most cap are written.
bp_status bp_embed_get_state(bp_embed* env, uint64_t row, const char* name, double* out, uint64_t cap, uint64_t* out_n);
// Sets a row's state, as if its reset had drawn it, and computes its observation again; parts that are not named keep their
// values. n parts: names[n], values[i] of sizes[i] numbers. The episode continues: its length, its limit, its return.
bp_status bp_embed_set_state(bp_embed* env, uint64_t row, uint64_t n, const char* const* names, const double* const* values,
                             const uint64_t* sizes);

// ---- An experiment in a separate process ----------------------------------------------------------------------------------

enum {
  BP_RUN_STARTED = 1,  // text: the results folder
  BP_RUN_EVENT,        // text: a line of events.jsonl; trial and attempt, if it is of one
  BP_RUN_METRICS,      // text: a line of metrics.jsonl of a trial's attempt, one for each iteration
  BP_RUN_PROGRESS,     // text: progress.json, whenever it has changed
  BP_RUN_LOG,          // text: a line that the program wrote for people
  BP_RUN_WAITING,      // nothing new; about ten times a second
  BP_RUN_ENDED         // text: the JSON of `backplane run --json`, or ""; the last one
};

typedef struct bp_run_news {
  uint32_t struct_size, kind;  // BP_RUN_*
  const char* text;            // for the call
  const char* trial;           // id, for the call; NULL: of none
  uint32_t attempt, reserved;  // 0: of none
} bp_run_news;

// Runs `backplane run` of the installation (5) on an experiment file or a results folder, with further arguments ("--set",
// "budget.iterations=3", "--out", ...; ends with NULL; NULL: none), and returns when it has ended. on_news (NULL: none) is
// called on the calling thread, also while a cancelled run ends. It returns 0 to continue. Any other value cancels, as Ctrl-C
// does: running trials save themselves, and `backplane run` of the same file resumes them. A later 2 acts like a second Ctrl-C,
// which ends them immediately. It must return, and not by an exception or longjmp.
// The run dies with this process, whatever ends it. *out_exit (may be NULL): its exit code, -1 if it had none.
// BP_OK: it exited with 0. BP_E_CANCELLED: cancelled. BP_E_CONFIG: the file or the arguments are wrong (2), BP_E_IO: it could
// not be started, else BP_E_INTERNAL; bp_embed_error() returns its messages.
bp_status bp_run(const char* file, const char* const* arguments, int32_t (*on_news)(void* context, const bp_run_news* news),
                 void* context, int32_t* out_exit);
// </embed>

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EMBED_H_
