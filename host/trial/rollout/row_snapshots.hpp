// The states of an env's rows as bytes, through "bp.env.snapshot/1".
#pragma once

#include <cstddef>
#include <vector>

#include "rollout/instance.hpp"

namespace backplane {

// Whether the env offers it, and the host can use it: not of an env on a device.
bool HasSnapshots(const EnvInstance& env);

// All rows, one after the other. Both throw TrialFailure: where the env refuses, writes more than the bytes it named or names
// an absurd number of them; and where what is to be put back is not as long as the env's rows are. [control]
std::vector<std::byte> SaveRows(EnvInstance& env);
void LoadRows(EnvInstance& env, const std::vector<std::byte>& saved);

}  // namespace backplane
