#include "rollout/row_snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backplane/ext/snapshot.h"
#include "rollout/guard.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMaxSnapshotBytes = uint64_t{1} << 36;  // for all rows
constexpr uint64_t kGuardBytes = 64;

const bp_env_snapshot_1* SnapshotOf(const EnvInstance& env) { return env.Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1); }

uint64_t RowBytes(const bp_env_snapshot_1& snapshot, EnvInstance& env) {
  const uint64_t bytes = env.Call("row_bytes", [&](const bp_env* handle) { return snapshot.row_bytes(handle); });
  if (bytes > kMaxSnapshotBytes / env.rows())
    throw TrialFailure(BP_E_INTERNAL, env.id(),
                       fmt::format("row_bytes: expected at most {} bytes per row ({} rows), got {}",
                                   kMaxSnapshotBytes / env.rows(), env.rows(), bytes));
  return bytes;
}

}  // namespace

bool HasSnapshots(const EnvInstance& env) { return !env.on_device() && SnapshotOf(env) != nullptr; }

std::vector<std::byte> SaveRows(EnvInstance& env, uint64_t begin, uint64_t end) {
  const bp_env_snapshot_1& snapshot = *SnapshotOf(env);
  const uint64_t bytes = RowBytes(snapshot, env);
  std::vector<std::byte> out(bytes * (end - begin) + kGuardBytes);
  for (uint64_t r = begin; r < end; ++r) {
    std::byte* const at = out.data() + (r - begin) * bytes;
    FillGuard(at + bytes, kGuardBytes);  // where the next row's bytes go
    env.Call("snapshot", [&](bp_env* handle) { return snapshot.get(handle, r, at); });
    if (GuardChange(at + bytes, kGuardBytes, /*before=*/false))
      throw TrialFailure(BP_E_INTERNAL, env.id(),
                         fmt::format("snapshot: expected {} bytes of row {} (row_bytes), got more", bytes, r));
    if (r + 1 < end) std::fill_n(at + bytes, std::min(bytes, kGuardBytes), std::byte{0});
  }
  out.resize(bytes * (end - begin));
  return out;
}

void LoadRows(EnvInstance& env, uint64_t begin, uint64_t end, const std::vector<std::byte>& saved) {
  const bp_env_snapshot_1& snapshot = *SnapshotOf(env);
  const uint64_t bytes = RowBytes(snapshot, env);
  if (saved.size() != bytes * (end - begin))
    throw TrialFailure(BP_E_IO, env.id(),
                       fmt::format("restore: expected {} bytes for each of {} rows (row_bytes), got {} saved bytes", bytes,
                                   end - begin, saved.size()));
  for (uint64_t r = begin; r < end; ++r)
    env.Call("restore", [&](bp_env* handle) { return snapshot.set(handle, r, saved.data() + (r - begin) * bytes); });
}

}  // namespace backplane
