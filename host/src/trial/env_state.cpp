#include "trial/env_state.hpp"

#include "rollout/row_snapshots.hpp"
#include "trial/state_bytes.hpp"

namespace backplane {
namespace {

constexpr const char *kRowsPart = "env", *kWholePart = "env_state";  // parts of a checkpoint

const bp_env_state_1* StateOf(const EnvInstance& env) {
  return env.on_device() ? nullptr : env.Extension<bp_env_state_1>(BP_ENV_STATE_1);
}

const char* PartFor(const EnvInstance& env) { return HasSnapshots(env) ? kRowsPart : kWholePart; }

}  // namespace

bool KeepsEnvState(const EnvInstance& env) { return HasSnapshots(env) || StateOf(env) != nullptr; }

bool HasEnvState(const Checkpoint& checkpoint, const EnvInstance& env) {
  return KeepsEnvState(env) && checkpoint.parts.contains(PartFor(env));
}

void SaveEnv(EnvInstance& env, Checkpoint* checkpoint) {
  std::vector<std::byte>& bytes = checkpoint->parts[PartFor(env)];
  if (HasSnapshots(env)) {
    bytes = SaveRows(env);
    return;
  }
  const StateWriter writer(&bytes);
  env.Call("save", [&](bp_env* handle) { return StateOf(env)->save(handle, writer.get()); });
}

void LoadEnv(EnvInstance& env, const Checkpoint& checkpoint) {
  const std::vector<std::byte>& bytes = PartOf(checkpoint, PartFor(env));
  if (HasSnapshots(env)) return LoadRows(env, bytes);
  const StateReader reader(bytes);
  env.Call("load", [&](bp_env* handle) { return StateOf(env)->load(handle, reader.get()); });
  reader.CheckAllIsRead(env.id());
}

}  // namespace backplane
