// The env's part of a checkpoint: snapshots of its rows, or, where their states have no fixed size, "bp.env.state/1".
#pragma once

#include "rollout/instance.hpp"
#include "trial/checkpoint.hpp"

namespace backplane {

// Whether the rows' states can be had: not of an env on a device.
bool KeepsEnvState(const EnvInstance& env);
// Whether `checkpoint` holds what this env gave.
bool HasEnvState(const Checkpoint& checkpoint, const EnvInstance& env);

// Both throw TrialFailure where the env complains. [control]
void SaveEnv(EnvInstance& env, Checkpoint* checkpoint);
void LoadEnv(EnvInstance& env, const Checkpoint& checkpoint);

}  // namespace backplane
