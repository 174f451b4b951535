// Saves the states of an env's rows as bytes, through "bp.env.snapshot/1".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rollout/instance.hpp"

namespace backplane {

// True if the env supports it and the host can use it, so not for an env on a device.
bool HasSnapshots(const EnvInstance& env);

// True if every wrapper of the env supports it, whatever the innermost env does; true without wrappers.
bool HasWrapperSnapshots(const EnvInstance& env);

// Rows [begin, end), one after the other. Both throw TrialFailure: if the env rejects, writes more bytes than it announced or
// announces an absurd number; and if the bytes to load do not match the length of the env's rows. [control]
std::vector<std::byte> SaveRows(EnvInstance& env, uint64_t begin, uint64_t end);
void LoadRows(EnvInstance& env, uint64_t begin, uint64_t end, const std::vector<std::byte>& saved);
// The same for the wrappers of an env only, the outermost first.
std::vector<std::byte> SaveWrapperRows(EnvInstance& env, uint64_t begin, uint64_t end);
void LoadWrapperRows(EnvInstance& env, uint64_t begin, uint64_t end, std::span<const std::byte> saved);
inline std::vector<std::byte> SaveRows(EnvInstance& env) { return SaveRows(env, 0, env.rows()); }
inline void LoadRows(EnvInstance& env, const std::vector<std::byte>& saved) { LoadRows(env, 0, env.rows(), saved); }

}  // namespace backplane
