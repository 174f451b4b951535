// The monitor kind: a read-only listener on its own thread. The hot path never waits for it. PHASE, EPISODE and METRIC events
// may be dropped under load (and are counted); other events are not.
#ifndef BACKPLANE_MONITOR_H_
#define BACKPLANE_MONITOR_H_

#include "backplane/host.h"
#include "backplane/module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_monitor bp_monitor;  // the plugin's own

// This version of the host sends
//   PHASE    the work of a thread until t_ns, for duration_ns. phase: which of the host's closed set, name: its name
//            ("env_step"), instance: the thread, 0 the control thread. The spans of a thread neither overlap nor have gaps.
//            Neighbouring spans shorter than 1 ms are merged into one event per phase, with their total time and their number
//            in `count`, but without their order. PHASE events come at the end of an iteration, before its ITER, thread by
//            thread, and only while a monitor requests them.
//   ITER     an iteration ended, which took duration_ns. value: env steps per second
//   EPISODE  value: return, instance: row, or the candidate if candidates are evaluated
//   METRIC   a number of the iteration of the last ITER, or before the first ITER of the initial evaluation (iteration 0),
//            by its name in metrics.jsonl ("sps", "return", "ep/length", "eval/return", "train/policy_loss", ...), NaN if it
//            was not finite. instance: BP_METRIC_*. An ITER and its METRICs come in one call of on_events.
enum { BP_EVENT_PHASE = 2, BP_EVENT_ITER, BP_EVENT_EPISODE, BP_EVENT_METRIC };

// Subject of a METRIC: the experiment (equal in every run of the trial) or the machine (differs between runs).
enum { BP_METRIC_EXPERIMENT = 0, BP_METRIC_MACHINE = 1 };

typedef struct bp_event {
  uint32_t struct_size, type;  // BP_EVENT_*
  int64_t t_ns;                // steady clock; the end of a span
  uint64_t seq, iteration, env_steps;
  uint32_t instance, phase;
  double value;
  const char* name;     // lives until finish
  const char* detail;   // lives for the call; may be NULL
  int64_t duration_ns;  // PHASE, ITER
  uint64_t count;       // PHASE
} bp_event;

typedef struct bp_monitor_api {
  uint32_t struct_size, reserved;
  bp_status (*create)(const bp_host* host, const bp_config* config, bp_monitor** out_monitor);  // [control]
  void (*destroy)(bp_monitor* monitor);                                                         // [control]
  // Bit (1 << type) for each requested event type. Called after create and after each on_events, so a monitor can change it.
  // [any]
  uint64_t (*interests)(const bp_monitor* monitor);
  // `n` events of events->struct_size bytes each, which may be more than sizeof(bp_event). [monitor]
  bp_status (*on_events)(bp_monitor* monitor, const bp_event* events, uint64_t n);
  bp_status (*sample)(bp_monitor* monitor, int64_t t_ns);                   // called about once a second. [monitor]
  bp_status (*finish)(bp_monitor* monitor, const char* out_dir);            // may be called twice. [monitor]
  const void* (*get_extension)(const bp_monitor* monitor, const char* id);  // [any]
} bp_monitor_api;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_MONITOR_H_
