// Services of the host for a plugin instance: logging, errors with a message, cancelling, and its own options.
#ifndef BACKPLANE_HOST_H_
#define BACKPLANE_HOST_H_

#include "backplane/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// One per plugin instance; lives until the instance's `destroy` has returned. `create` may call only `log`, `fail`, config
// getters, "bp.host.facts/1", "bp.host.part/1", "bp.host.trial/1", "bp.host.file/1" (ext/file.h) and "bp.host.shared/1"
// (ext/shared.h).
typedef struct bp_host {
  uint32_t struct_size, abi_minor;
  void* impl;  // the host's own
  // Services by id, e.g. "bp.host.metrics/1"; NULL when unknown. [any]
  const void* (*get_extension)(const struct bp_host* host, const char* id);
  // severity is BP_LOG_*; the text is copied. [any]
  void (*log)(const struct bp_host* host, int32_t severity, const char* utf8);
  // Records a sentence with the cause and returns `code`, for `return host->fail(host, BP_E_CONFIG, "...")`. The host adds
  // plugin id, trial and position. [any]
  bp_status (*fail)(const struct bp_host* host, bp_status code, const char* utf8);
  // Non-zero once the user requested a stop; long calls should check it and return BP_E_CANCELLED. [any]
  int32_t (*cancelled)(const struct bp_host* host);
} bp_host;

// The options of one instance: validated against the plugin's table, defaults filled in. Valid only during `create`. Getters
// return BP_E_INVALID_ARG for a path that the table does not declare or that has a different type.
typedef struct bp_config {
  uint32_t struct_size, reserved;
  void* impl;  // the host's own
  bp_status (*f64)(const struct bp_config* config, const char* path, double* out);
  bp_status (*i64)(const struct bp_config* config, const char* path, int64_t* out);  // also BOOL, as 0 or 1
  // STR, ENUM, PATH, and ANY as JSON text; owned by the config.
  bp_status (*str)(const struct bp_config* config, const char* path, const char** borrow_out);
  // Numbers of a list: writes at most `cap` of them, and always the full length to `out_n`.
  bp_status (*list)(const struct bp_config* config, const char* path, uint64_t cap, double* out, uint64_t* out_n);
  // All options as one JSON object; owned by the config.
  const char* (*json)(const struct bp_config* config);
  // The place that sets the option, "walk.yaml:12:5", or "default"; owned by the config.
  const char* (*where)(const struct bp_config* config, const char* path);
} bp_config;

// "bp.host.metrics/1": numbers a plugin reports in addition to the host's own. They appear in metrics.jsonl once per iteration
// (mean of the values recorded in it).
#define BP_HOST_METRICS_1 "bp.host.metrics/1"
typedef struct bp_host_metrics_1 {
  uint32_t struct_size, reserved;
  // Registers a name once ("train/policy_loss"); `unit` and `doc` may be NULL. direction: 1 up is better, -1 down, 0 neither.
  // Returns a handle >= 0, or a bp_status error. [control], [monitor], also during create: the host checks the names in
  // `report:` and `output.live` before the start, against the names registered by then.
  int32_t (*add)(const bp_host* host, const char* name, const char* unit, int32_t direction, const char* doc);
  void (*record)(const bp_host* host, int32_t handle, double value);  // [control], [monitor]
} bp_host_metrics_1;

// "bp.host.facts/1": decisions of a plugin, e.g. for one of several implementations. Facts appear in result.json
// as facts.<plugin id>.<key>, so that two runs can be compared.
#define BP_HOST_FACTS_1 "bp.host.facts/1"
typedef struct bp_host_facts_1 {
  uint32_t struct_size, reserved;
  // Records `value` under `key` and replaces an earlier one; copies both texts. [control], also during create
  void (*record)(const bp_host* host, const char* key, const char* value);
} bp_host_facts_1;

// "bp.host.trial/1": identity and folders of the trial. For monitors, and for learners that write files besides their state;
// results must not depend on it. The texts live as long as the host. A folder may not exist before the first event.
#define BP_HOST_TRIAL_1 "bp.host.trial/1"
typedef struct bp_host_trial_1 {
  uint32_t struct_size;
  uint32_t attempt;  // 1, 2, ...
  const char* trial_id;
  const char* attempt_dir;  // of this attempt; passed to `finish` too
  const char* trial_dir;    // shared by the attempts of the trial: for files that a resumed trial extends
} bp_host_trial_1;

// "bp.host.parallel/1": work of a learner on the cores granted to the trial. Their number is hidden, so a result can
// only depend on the division of the work.
#define BP_HOST_PARALLEL_1 "bp.host.parallel/1"
typedef struct bp_host_parallel_1 {
  uint32_t struct_size, reserved;
  // Runs piece(context, i) once for each i < n, on the caller and on threads of the host in any order, and returns when all
  // have ended. A piece must neither throw nor call `run`. [control]
  void (*run)(const bp_host* host, uint64_t n, void (*piece)(void* context, uint64_t i), void* context);
} bp_host_parallel_1;

// "bp.host.phase/1": work within a plugin's call that the host cannot see, such as a copy to a device inside `act`. The time of
// a span counts for the named phase of the host's closed set instead of the phase of the call; spans nest. During an
// evaluation, a checkpoint or an offer to monitors, spans are ignored.
#define BP_HOST_PHASE_1 "bp.host.phase/1"
typedef struct bp_host_phase_1 {
  uint32_t struct_size, reserved;
  // Enters a phase ("obs_transfer", "act_transfer", "update_forward", ...; an unknown name has no effect) and returns the
  // argument for `leave`. Both do nothing on a thread that the host does not time. [any]
  int32_t (*enter)(const bp_host* host, const char* phase);
  void (*leave)(const bp_host* host, int32_t entered);
} bp_host_phase_1;

// "bp.host.part/1": a part is a library that only some uses of a plugin need. LibTorch, for example, costs 0.14 s of CPU and
// 116 MB to load. A part is next to the plugin's file and is sealed before it. Sealing the plugin names the part (`backplane
// plugin seal FILE --part PART`), so that the plugin's hash covers both.
#define BP_HOST_PART_1 "bp.host.part/1"
typedef struct bp_host_part_1 {
  uint32_t struct_size, reserved;
  // The function table of the part called `name` ("torch" of learner_ppo.so is learner_ppo_torch.so); its content is private to
  // the two. The first call loads the file permanently, after LibTorch if the part is built against it. NULL if it is not
  // available: `borrow_why_not` is then the reason, valid until the next call with this host. [control], also during create
  const void* (*open)(const bp_host* host, const char* name, const char** borrow_why_not);
} bp_host_part_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_HOST_H_
