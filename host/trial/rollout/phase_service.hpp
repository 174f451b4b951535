// "bp.host.phase/1" on the clock of the calling thread.
#pragma once

#include "backplane/host.h"

namespace backplane {

// For HostSinks::phase.
const bp_host_phase_1* PhaseService();

}  // namespace backplane
