// Checks the rows of an embedded env against the available memory before any of it is touched.
#pragma once

#include <cstdint>

#include "embed/open_env.hpp"
#include "rollout/instance.hpp"

namespace backplane {

// Returns `rows`. Throws TrialFailure: BP_E_INVALID_ARG if an env cannot have so many, BP_E_OOM_HOST if their channels do not
// fit into the available memory. For more than a few rows, creates the env with a single row to read its channels.
uint64_t RowsThatFit(const LoadedModule& module, const EnvToOpen& about, const HostSinks& sinks, uint64_t rows);

}  // namespace backplane
