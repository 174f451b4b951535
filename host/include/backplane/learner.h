// The learner kind. The host owns the loop; a learner requests its next data (`plan`), chooses actions (`act`)
// and learns (`consume`).
#ifndef BACKPLANE_LEARNER_H_
#define BACKPLANE_LEARNER_H_

#include "backplane/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_learner bp_learner;  // the plugin's own

// bp_learner_spec.flags
enum {
  BP_LEARNER_OBS_MOMENTS = 1,   // deliver obs_count, obs_mean, obs_m2 with a rollout or an evaluation of candidates
  BP_LEARNER_ROW_EXACT = 2,     // BP_FLAG_ROW_EXACT of this instance, if it depends on options such as the device
  BP_LEARNER_HELD_OUT_ANY = 4,  // its held-out loss (ext/held_out.h) may be requested by several threads, also during `act`
  // Its state is saved only when a checkpoint is written, not before each collecting request. A stop waits for the end of the
  // iteration, for 10 s at most; later the trial ends without saving, and resumes from the last checkpoint. Since 1.1
  BP_LEARNER_STATE_LARGE = 8,
  BP_LEARNER_GROUPS = 16  // it supports envs whose agents form groups (bp_env_spec.groups). Since 1.2
};

typedef struct bp_learner_spec {
  uint32_t struct_size;
  uint32_t evaluation_rows;      // maximum per call of `act` in an evaluation; 0: as many as in a rollout
  const char* const* act_in;     // input channels of `act`, NULL-terminated
  const char* const* keep;       // channels of a ROLLOUT delivery, NULL-terminated
  const bp_channel* act_out;     // [n_act_out] outputs of `act`: the env's ACTION channels by name, and EXTRA and CARRY ones
  uint64_t n_act_out, n_params;  // n_params: trainable numbers, for the record
  uint64_t flags;                // BP_LEARNER_*
} bp_learner_spec;

// bp_limits.flags
enum {
  BP_LIMIT_NO_SHRINK = 1  // do not split work that does not fit into device memory: report BP_E_OOM_DEVICE
};

// Present limits of the host.
typedef struct bp_limits {
  uint32_t struct_size, flags;  // flags: BP_LIMIT_*
  uint64_t rows, chunk_max;
  uint64_t micro_batch_max;     // of a DATA request; falls when one did not fit into device memory. UINT64_MAX: no known limit
  uint64_t device_bytes;        // device memory for the learner; 0: no limit
  uint64_t env_steps_left;      // UINT64_MAX: no such budget
  int64_t deadline_ns;          // steady clock; INT64_MAX: none
  double progress;              // share of the budget used, 0 to 1; the largest over all budgets. For schedules.
  uint64_t iterations, epochs;  // of the whole trial, by its budget; UINT64_MAX: no such budget
  uint64_t items;               // per epoch of the env's data; 0: the env is no source (ext/source.h)
  uint64_t iterations_done;     // of this trial, including one whose ticks still run. A stage is a separate trial: starts at 0
} bp_limits;

enum { BP_DATA_SORT = 1, BP_DATA_DROP_LAST = 2 };  // bp_request.u.data.flags

enum { BP_REQ_ROLLOUT = 1, BP_REQ_EVALUATE, BP_REQ_DATA, BP_REQ_TICK, BP_REQ_SAVE, BP_REQ_DONE };

typedef struct bp_request {
  uint32_t struct_size, kind;  // BP_REQ_*
  union {
    struct {
      uint64_t horizon, policy_version;
      uint64_t part;  // steps per delivery; 0: all of them in one. Since 1.1
    } rollout;        // horizon: steps per row
    struct {
      uint64_t candidates, episodes_each;
      uint64_t chunk;         // maximum number of candidates in flight; 0: all. Does not affect results (see below)
      uint64_t max_steps;     // ends longer episodes; 0: only the env ends episodes
      const uint64_t* seeds;  // [candidates][episodes_each], of the episodes' resets; owned by the learner until its `consume`
    } evaluate;
    struct {
      uint64_t micro_batch;  // items at a time, 0: as many as fit into device memory; the host cuts it to micro_batch_max
      uint64_t group_rows;   // items of the group, one optimiser update
      uint64_t flags;        // SORT: by LENGTH channels within the group. DROP_LAST: leave out an epoch's short last group
    } data;
    struct {
      const char* phase;
      uint64_t est_ns;
    } tick;  // phase: one of the host's closed set, e.g. "update_backward"
    struct {
      const char* tag;
    } save;
    uint64_t space[16];
  } u;
} bp_request;

enum { BP_ACT_EXPLORE = 0, BP_ACT_GREEDY = 1 };

// One call of `act`. Tensors are whole channels indexed by absolute row; only rows [begin, end) may be read or written.
typedef struct bp_act {
  uint32_t struct_size, flags;  // BP_ACT_*
  uint64_t begin, end, row_base;
  uint64_t seed, step;    // noise of row r: bp_seed(seed, BP_PURPOSE_ACT, row_base + r, step)
  bp_tensor* const* in;   // spec.act_in order
  bp_tensor* const* out;  // spec.act_out order
  // [rows], by absolute row, while candidates are evaluated: the candidate that acts in the row, -1 for an idle row, whose
  // action is ignored. NULL: the learner's own policy.
  const int32_t* candidate;
  void* stream;
} bp_act;

enum { BP_DELIVERY_LAST_IN_GROUP = 1, BP_DELIVERY_PROBE = 4 };

// The answer to a request: tensors by name. A ROLLOUT delivers the `keep` channels as [T or T+1, N, ...] (state roles have T+1
// entries). For rows whose episode ended it delivers final_obs [E, ...] and final_index int64 [E] (= t * N + row, ascending),
// final_state, and final_X for further channels X of OBS or STATE. BP_LEARNER_OBS_MOMENTS adds obs_count [1], obs_mean [...],
// obs_m2 [...] (float64, over the T entries acted on). The tensors stay valid through the following TICKs, until the next
// collecting request. With an env on a device, all except final_index are there; the same holds for the tensors of `act`.
//
// With `part` > 0 the rollout comes in `count` deliveries, `index` 0 .. count-1: entries index * part to (index + 1) * part of
// each channel, the last one may be shorter. `final_index`, final_obs, the moments and `env_steps` refer to the part. Its
// tensors are valid until `consume` returns. The learner may change its weights in each `consume`: no `act` runs meanwhile, and
// the next part acts with the new ones. TICKs follow the last part only. All parts are one iteration.
//
// A CARRY channel is a memory of the learner's own per row, or per agent (BP_SCOPE_AGENT), of shape and dtype of its choice,
// declared in `act_out` and listed in `act_in`: `act` reads entry t in `in` and writes entry t+1 in `out`. An episode starts
// with zeros. If the step ends an episode, the host keeps what `act` wrote as final_NAME [E, ...], then zeroes entry t+1.
// Evaluations and candidates have a memory of their own. A rollout delivers it like a state role, T+1 entries, if `keep` lists
// it. An env with BP_FLAG_NATIVE_AUTORESET is rejected together with such a learner.
//
// An EVALUATE request plays candidates x episodes_each jobs, each an episode of one candidate from its own seed, acting GREEDY.
// It delivers fitness float64 [candidates, episodes_each], the undiscounted sum of an episode's rewards in time order (of all
// agents), and ep_length int64 of the same shape. BP_LEARNER_OBS_MOMENTS adds obs_count, obs_mean, obs_m2 as above, over all
// states acted on in every job. Rows of one call are at different steps of their episodes: bp_act.step is 0, and a job must not
// depend on the row that plays it. If the learner is ROW_EXACT, a row whose job has ended immediately gets the next one, in any
// row, call and thread. Calls contain only rows with a job, and results are the same bytes for any rows, threads and `chunk`.
// Otherwise jobs are assigned to rows in waves, row by row, and `act` gets whole chunks of rows until the last job of the chunk
// has ended; results are then the same for any threads.
//
// A DATA request (ext/source.h) is answered by `count` deliveries, the micro-batches `index` 0 .. count-1 of one group, the
// longest items first when sorted: the source's channels by name, [n, ...] with n <= micro_batch. If a LENGTH channel contains
// their lengths, they are cut to the longest item of the micro-batch, so rows are strided. `group_weight` is the sum of WEIGHT
// over the whole group. All tensors of a group stay valid until `consume` of its LAST_IN_GROUP has returned, so a learner may
// defer work until then. A learner whose `consume` fails drops its data of the group and returns to the state before it. After
// BP_E_OOM_DEVICE the same items may come again in smaller micro-batches. A trial may end within a group, so a learner saves
// its state before the group.
//
// With PROBE the group is artificial, to test whether it fits: the learner processes it like any other and then drops it.
typedef struct bp_delivery {
  uint32_t struct_size, kind, index, count, flags, reserved;
  uint64_t n_tensors;
  const char* const* names;   // [n_tensors]
  bp_tensor* const* tensors;  // [n_tensors]
  double group_weight;
  uint64_t env_steps;  // of the trial so far; items if they come from a source
  void* stream;
} bp_delivery;

typedef struct bp_learner_api {
  uint32_t struct_size, reserved;
  // Checks the env's spaces; BP_E_UNSUPPORTED with a reason if they are not supported. [control]
  bp_status (*create)(const bp_host* host, const bp_config* config, const bp_env_spec* env, uint64_t rows, uint64_t seed,
                      bp_learner** out_learner);
  void (*destroy)(bp_learner* learner);                       // [control]
  const bp_learner_spec* (*spec)(const bp_learner* learner);  // owned by the learner, until destroy. [any]
  bp_status (*plan)(bp_learner* learner, const bp_limits* limits, bp_request* out_request);  // [control]
  bp_status (*consume)(bp_learner* learner, const bp_delivery* delivery);                    // [control]
  // Only reads the act_in channels and immutable weights. Never runs during plan or consume. [rows]
  bp_status (*act)(bp_learner* learner, const bp_act* act);
  const void* (*get_extension)(const bp_learner* learner, const char* id);  // NULL: unknown id. [any]
} bp_learner_api;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_LEARNER_H_
