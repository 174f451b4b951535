// The phases into which the host divides the time of a trial's threads. The set is closed, so that trials are comparable. It
// applies to a learner's tick (bp_request), "bp.host.phase/1", PHASE events and result.json.
#ifndef BACKPLANE_PHASES_H_
#define BACKPLANE_PHASES_H_

#define BP_PHASE_ENV_STEP "env_step"
#define BP_PHASE_ENV_RESET "env_reset"
#define BP_PHASE_OBS_TRANSFER "obs_transfer"  // observations to the device of the learner
#define BP_PHASE_INFER "infer"                // choosing actions
#define BP_PHASE_ACT_TRANSFER "act_transfer"  // actions back from the device
#define BP_PHASE_BATCH_BUILD "batch_build"
#define BP_PHASE_UPDATE_FORWARD "update_forward"
#define BP_PHASE_UPDATE_BACKWARD "update_backward"
#define BP_PHASE_UPDATE_OPTIM "update_optim"
#define BP_PHASE_SYNC "sync"  // between two requests
#define BP_PHASE_EVAL "eval"
#define BP_PHASE_CHECKPOINT "checkpoint"
#define BP_PHASE_MONITOR "monitor"
#define BP_PHASE_IDLE "idle"  // no work

#endif  // BACKPLANE_PHASES_H_
