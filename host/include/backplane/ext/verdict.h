// "bp.monitor.verdict/1": a monitor ends its trial. The host asks after each call of on_events and sample. After STOP, the
// trial ends with the iteration that runs then, as if its budget were used up: it saves a checkpoint, is evaluated and counts
// as completed. The reason is recorded in result.json.
#ifndef BACKPLANE_EXT_VERDICT_H_
#define BACKPLANE_EXT_VERDICT_H_

#include "backplane/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_MONITOR_VERDICT_1 "bp.monitor.verdict/1"

enum { BP_VERDICT_CONTINUE = 0, BP_VERDICT_STOP = 1 };  // other values mean BP_VERDICT_CONTINUE

typedef struct bp_monitor_verdict_1 {
  uint32_t struct_size, reserved;
  // Returns BP_VERDICT_*. With BP_VERDICT_STOP, sets *reason to a sentence in UTF-8, owned by the monitor and valid until the
  // next call. [monitor]
  uint32_t (*verdict)(const bp_monitor* monitor, const char** reason);
} bp_monitor_verdict_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_VERDICT_H_
