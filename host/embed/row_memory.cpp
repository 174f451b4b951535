#include "embed/row_memory.hpp"

#include <fmt/format.h>

#include <optional>

#include "backplane/channels.hpp"
#include "machine/memory.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMaxRows = uint64_t{1} << 32;  // a row's number takes 32 bits of its seeds
constexpr uint64_t kFewRows = 1024;               // at most this many rows skip the check
constexpr uint64_t kOfHost = 64;                  // bytes per row: episode, phase, mask, seed, return and length

double GiB(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

uint64_t BytesOf(const EnvInstance& env, const bp_channel& channel) {
  return Elements(channel) * (channel.dtype.bits / 8) * env.Lead(channel) / env.rows();
}

// The host's memory per row. Includes a final observation, even if the env has no channel for it.
uint64_t BytesOfRow(const EnvInstance& env) {
  uint64_t bytes = kOfHost;
  for (const bp_channel* channel : env.channels()) {
    const bool is_kept = channel->role == BP_ROLE_OBS || channel->role == BP_ROLE_STATE;
    bytes += BytesOf(env, *channel) * (is_kept ? 2 : 1);
  }
  return bytes;
}

// Absent: the env cannot be created with one row. Then its own error explains the cause better.
std::optional<uint64_t> BytesPerRow(const LoadedModule& module, const EnvToOpen& about, const HostSinks& sinks) {
  try {
    const EnvInstance one(module, about.info.id, sinks, {about.options, about.origin, "env.options"}, 1);
    return BytesOfRow(one);
  } catch (const TrialFailure&) {
    return std::nullopt;
  }
}

}  // namespace

uint64_t RowsThatFit(const LoadedModule& module, const EnvToOpen& about, const HostSinks& sinks, uint64_t rows) {
  if (rows < 1 || rows > kMaxRows)
    throw TrialFailure(BP_E_INVALID_ARG, "", fmt::format("rows: expected 1 to {}, got {}", kMaxRows, rows));
  if (rows <= kFewRows) return rows;
  const std::optional<uint64_t> available = AvailableMemory();
  const std::optional<uint64_t> each = available ? BytesPerRow(module, about, sinks) : std::nullopt;
  if (!each || *each <= *available / rows) return rows;
  const uint64_t needed = *each > UINT64_MAX / rows ? UINT64_MAX : *each * rows;
  throw TrialFailure(
      BP_E_OOM_HOST, about.info.id,
      fmt::format("rows: {} rows need at least {:.1f} GiB ({} bytes each), but {:.1f} GiB are available; at most "
                  "{} rows fit",
                  rows, GiB(needed), *each, GiB(*available), *available / *each));
}

}  // namespace backplane
