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

// The env's own part only.
uint64_t RowBytes(EnvInstance& env) {
  const uint64_t bytes = env.Call("row_bytes", [&](const bp_env* handle) { return SnapshotOf(env)->row_bytes(handle); });
  if (bytes > kMaxSnapshotBytes / env.rows())
    throw TrialFailure(BP_E_INTERNAL, env.id(),
                       fmt::format("row_bytes: expected at most {} bytes per row ({} rows), got {}",
                                   kMaxSnapshotBytes / env.rows(), env.rows(), bytes));
  return bytes;
}

}  // namespace

bool HasSnapshots(const EnvInstance& env) {
  if (env.on_device() || SnapshotOf(env) == nullptr) return false;
  return env.below() == nullptr || HasSnapshots(env.below()->env());
}

bool HasWrapperSnapshots(const EnvInstance& env) {
  return env.below() == nullptr || (SnapshotOf(env) != nullptr && HasWrapperSnapshots(env.below()->env()));
}

namespace {

std::vector<std::byte> SavePart(EnvInstance& env, uint64_t begin, uint64_t end) {
  const bp_env_snapshot_1& snapshot = *SnapshotOf(env);
  const uint64_t bytes = RowBytes(env);
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

void LoadPart(EnvInstance& env, uint64_t begin, uint64_t end, std::span<const std::byte> saved) {
  const bp_env_snapshot_1& snapshot = *SnapshotOf(env);
  const uint64_t bytes = RowBytes(env);
  if (saved.size() != bytes * (end - begin))
    throw TrialFailure(BP_E_IO, env.id(),
                       fmt::format("restore: expected {} bytes for each of {} rows (row_bytes), got {} saved bytes", bytes,
                                   end - begin, saved.size()));
  for (uint64_t r = begin; r < end; ++r)
    env.Call("restore", [&](bp_env* handle) { return snapshot.set(handle, r, saved.data() + (r - begin) * bytes); });
}

}  // namespace

std::vector<std::byte> SaveWrapperRows(EnvInstance& env, uint64_t begin, uint64_t end) {
  std::vector<std::byte> out;
  for (EnvInstance* each = &env; each->below() != nullptr; each = &each->below()->env()) {
    const std::vector<std::byte> part = SavePart(*each, begin, end);
    out.insert(out.end(), part.begin(), part.end());
    for (uint64_t r = begin; r < end; ++r) {
      out.resize(out.size() + EnvBelow::kRowBytes);
      each->below()->Get(r, out.data() + out.size() - EnvBelow::kRowBytes);
    }
  }
  return out;
}

void LoadWrapperRows(EnvInstance& env, uint64_t begin, uint64_t end, std::span<const std::byte> saved) {
  const uint64_t n = end - begin;
  for (EnvInstance* each = &env; each->below() != nullptr; each = &each->below()->env()) {
    const uint64_t own = RowBytes(*each) * n, bytes = own + EnvBelow::kRowBytes * n;
    if (saved.size() < bytes)
      throw TrialFailure(BP_E_IO, each->id(),
                         fmt::format("restore: expected {} bytes of {} rows or more, got {}", bytes, n, saved.size()));
    LoadPart(*each, begin, end, saved.first(own));
    for (uint64_t r = 0; r < n; ++r) each->below()->Set(begin + r, saved.data() + own + r * EnvBelow::kRowBytes);
    saved = saved.subspan(bytes);
  }
  if (!saved.empty())
    throw TrialFailure(BP_E_IO, env.id(), fmt::format("restore: got {} more bytes than its wrappers have", saved.size()));
}

// The innermost env first, so that a wrapper restores its own channels last.
std::vector<std::byte> SaveRows(EnvInstance& env, uint64_t begin, uint64_t end) {
  std::vector<std::byte> out = SavePart(env.innermost(), begin, end);
  const std::vector<std::byte> wrappers = SaveWrapperRows(env, begin, end);
  out.insert(out.end(), wrappers.begin(), wrappers.end());
  return out;
}

void LoadRows(EnvInstance& env, uint64_t begin, uint64_t end, const std::vector<std::byte>& saved) {
  const std::span<const std::byte> all(saved);
  if (env.below() == nullptr) return LoadPart(env, begin, end, all);
  const uint64_t own = std::min<uint64_t>(RowBytes(env.innermost()) * (end - begin), all.size());
  LoadPart(env.innermost(), begin, end, all.first(own));
  LoadWrapperRows(env, begin, end, all.subspan(own));
}

}  // namespace backplane
