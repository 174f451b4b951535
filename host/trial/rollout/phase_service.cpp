#include "rollout/phase_service.hpp"

#include "rollout/phase_clock.hpp"

namespace backplane {
namespace {

constexpr int32_t kNothingEntered = -1;

// These phases keep nested ones: an evaluation's own copies must not count as training's.
bool KeepsAll(Phase phase) { return phase == Phase::kEval || phase == Phase::kCheckpoint || phase == Phase::kMonitor; }

int32_t Enter(const bp_host*, const char* name) noexcept {
  PhaseClock* clock = PhaseClock::OfThisThread();
  if (clock == nullptr || name == nullptr || KeepsAll(clock->current())) return kNothingEntered;
  const std::optional<Phase> phase = FindPhase(name);
  return phase ? static_cast<int32_t>(clock->Switch(*phase)) : kNothingEntered;
}

void Leave(const bp_host*, int32_t entered) noexcept {
  PhaseClock* clock = PhaseClock::OfThisThread();
  if (clock == nullptr || entered < 0 || static_cast<size_t>(entered) >= kPhaseCount) return;
  clock->Switch(static_cast<Phase>(entered));
}

}  // namespace

const bp_host_phase_1* PhaseService() {
  static constexpr bp_host_phase_1 service = {sizeof(bp_host_phase_1), 0, Enter, Leave};
  return &service;
}

}  // namespace backplane
