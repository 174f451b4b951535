// The closed set of phases (backplane/phases.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backplane/phases.h"

namespace backplane {

enum class Phase : uint8_t {
  kEnvStep,
  kEnvReset,
  kObsTransfer,
  kInfer,
  kActTransfer,
  kBatchBuild,
  kUpdateForward,
  kUpdateBackward,
  kUpdateOptim,
  kSync,
  kEval,
  kCheckpoint,
  kMonitor,
  kIdle,
  kCount
};
inline constexpr size_t kPhaseCount = static_cast<size_t>(Phase::kCount);
inline constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
    BP_PHASE_ENV_STEP,    BP_PHASE_ENV_RESET,      BP_PHASE_OBS_TRANSFER,    BP_PHASE_INFER,        BP_PHASE_ACT_TRANSFER,
    BP_PHASE_BATCH_BUILD, BP_PHASE_UPDATE_FORWARD, BP_PHASE_UPDATE_BACKWARD, BP_PHASE_UPDATE_OPTIM, BP_PHASE_SYNC,
    BP_PHASE_EVAL,        BP_PHASE_CHECKPOINT,     BP_PHASE_MONITOR,         BP_PHASE_IDLE};

inline std::optional<Phase> FindPhase(std::string_view name) {
  for (size_t i = 0; i < kPhaseCount; ++i)
    if (kPhaseNames[i] == name) return static_cast<Phase>(i);
  return std::nullopt;
}

// The phase that a learner's tick names; names outside the set count as update_backward.
inline Phase PhaseFromName(std::string_view name) { return FindPhase(name).value_or(Phase::kUpdateBackward); }

}  // namespace backplane
