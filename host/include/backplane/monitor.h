// The monitor kind: a read-only listener on its own thread. The hot path never waits for it; EPISODE and METRIC events may be
// dropped under load (counted and reported), the others are not.
#ifndef BACKPLANE_MONITOR_H_
#define BACKPLANE_MONITOR_H_

#include "backplane/host.h"
#include "backplane/module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_monitor bp_monitor;  // the plugin's own

// This version of the host sends ITER (value: env steps per second), EPISODE (value: return, instance: row) and METRIC.
enum { BP_EVENT_RUN = 1, BP_EVENT_PHASE, BP_EVENT_ITER, BP_EVENT_EPISODE, BP_EVENT_METRIC, BP_EVENT_ERROR };

typedef struct bp_event {
  uint32_t struct_size, type;  // BP_EVENT_*
  int64_t t_ns;                // steady clock
  uint64_t seq, iteration, env_steps;
  uint32_t instance, phase;
  double value;
  const char* name;    // lives until finish
  const char* detail;  // lives for the call; may be NULL
} bp_event;

typedef struct bp_monitor_api {
  uint32_t struct_size, reserved;
  bp_status (*create)(const bp_host* host, const bp_config* config, bp_monitor** out_monitor);  // [control]
  void (*destroy)(bp_monitor* monitor);                                                         // [control]
  uint64_t (*interests)(const bp_monitor* monitor);  // bit (1 << type) for each event type it wants. [any]
  bp_status (*on_events)(bp_monitor* monitor, const bp_event* events, uint64_t n);  // [monitor]
  bp_status (*sample)(bp_monitor* monitor, int64_t t_ns);                           // called about once a second. [monitor]
  bp_status (*finish)(bp_monitor* monitor, const char* out_dir);                    // may be called twice. [monitor]
  const void* (*get_extension)(const bp_monitor* monitor, const char* id);          // [any]
} bp_monitor_api;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_MONITOR_H_
