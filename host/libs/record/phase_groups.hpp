// Groups of phases for reports of a trial's time.
#pragma once

#include <array>

#include "record/phases.hpp"

namespace backplane {

enum class PhaseGroup : uint8_t { kEnvironment, kActionSelection, kUpdate, kTransfer, kEvaluation, kOther, kIdle, kCount };
inline constexpr size_t kPhaseGroupCount = static_cast<size_t>(PhaseGroup::kCount);
inline constexpr std::array<std::string_view, kPhaseGroupCount> kPhaseGroupNames = {
    "environment", "action_selection", "update", "transfer", "evaluation", "other", "idle"};

constexpr PhaseGroup GroupOf(Phase phase) {
  switch (phase) {
    case Phase::kEnvStep:
    case Phase::kEnvReset: return PhaseGroup::kEnvironment;
    case Phase::kInfer: return PhaseGroup::kActionSelection;
    case Phase::kBatchBuild:
    case Phase::kUpdateForward:
    case Phase::kUpdateBackward:
    case Phase::kUpdateOptim: return PhaseGroup::kUpdate;
    case Phase::kObsTransfer:
    case Phase::kActTransfer: return PhaseGroup::kTransfer;
    case Phase::kEval: return PhaseGroup::kEvaluation;
    case Phase::kIdle: return PhaseGroup::kIdle;
    default: return PhaseGroup::kOther;
  }
}

}  // namespace backplane
