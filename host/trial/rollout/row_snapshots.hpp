// Saves the states of an env's rows as bytes, through "bp.env.snapshot/1".
#pragma once

#include <cstddef>
#include <vector>

#include "rollout/instance.hpp"

namespace backplane {

// True if the env supports it and the host can use it, so not for an env on a device.
bool HasSnapshots(const EnvInstance& env);

// All rows, one after the other. Both throw TrialFailure: if the env rejects, writes more bytes than it announced or announces
// an absurd number; and if the bytes to load do not match the length of the env's rows. [control]
std::vector<std::byte> SaveRows(EnvInstance& env);
void LoadRows(EnvInstance& env, const std::vector<std::byte>& saved);

}  // namespace backplane
