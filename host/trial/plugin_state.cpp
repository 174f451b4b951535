#include "trial/plugin_state.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "backplane/ext/policy.h"
#include "backplane/ext/snapshot.h"
#include "rollout/row_snapshots.hpp"

namespace backplane {

const bp_learner_state_1* StateOf(const LearnerInstance& learner) {
  return learner.Extension<bp_learner_state_1>(BP_LEARNER_STATE_1);
}

std::vector<std::byte> SaveLearner(const bp_learner_state_1& state, LearnerInstance& learner) {
  std::vector<std::byte> bytes;
  const StateWriter writer(&bytes);
  learner.Call("save", [&](bp_learner* handle) { return state.save(handle, writer.get()); });
  if (bytes.empty() && learner.spec().n_params > 0)
    throw TrialFailure(BP_E_INTERNAL, learner.id(),
                       fmt::format("save: expected the state of its {} parameters, got 0 bytes", learner.spec().n_params));
  return bytes;
}

void LoadLearner(const bp_learner_state_1& state, LearnerInstance& learner, const std::vector<std::byte>& saved) {
  const StateReader reader(saved);
  learner.Call("load", [&](bp_learner* handle) { return state.load(handle, reader.get()); });
  reader.CheckAllIsRead(learner.id());
}

namespace {

// The table in plugins that were built before it had `start`.
struct PolicyWithoutStart {
  uint32_t struct_size, reserved;
  void* slots[3];
};
static_assert(sizeof(PolicyWithoutStart) == offsetof(bp_learner_policy_1, start));

const bp_learner_policy_1* PolicyOf(const LearnerInstance& learner) {
  return reinterpret_cast<const bp_learner_policy_1*>(learner.Extension<PolicyWithoutStart>(BP_LEARNER_POLICY_1));
}

}  // namespace

bool OffersPolicy(const LearnerInstance& learner) { return PolicyOf(learner) != nullptr; }

std::optional<std::vector<std::byte>> SavePolicy(LearnerInstance& learner) {
  const bp_learner_policy_1* const policy = PolicyOf(learner);
  if (policy == nullptr) return std::nullopt;
  std::vector<std::byte> bytes;
  const StateWriter writer(&bytes);
  learner.Call("save (policy)", [&](bp_learner* handle) { return policy->save(handle, writer.get()); });
  return bytes;
}

void LoadPolicy(LearnerInstance& learner, const std::vector<std::byte>& saved) {
  const bp_learner_policy_1* const policy = PolicyOf(learner);
  if (policy == nullptr) throw TrialFailure(BP_E_INTERNAL, learner.id(), "offers " BP_LEARNER_POLICY_1 " only in the trial");
  const StateReader reader(saved);
  learner.Call("load (policy)", [&](bp_learner* handle) { return policy->load(handle, reader.get()); });
  reader.CheckAllIsRead(learner.id());
}

void StartPolicy(LearnerInstance& learner, const std::vector<std::byte>& saved) {
  const bp_learner_policy_1* const policy = PolicyOf(learner);
  if (!BP_HAS(policy, start) || policy->start == nullptr) return LoadPolicy(learner, saved);
  const StateReader reader(saved);
  learner.Call("start (policy)", [&](bp_learner* handle) { return policy->start(handle, reader.get()); });
  reader.CheckAllIsRead(learner.id());
}

nlohmann::json PolicyForm(LearnerInstance& learner) {
  const bp_learner_policy_1* const policy = PolicyOf(learner);
  const char* const form = learner.Call("form", [&](bp_learner* handle) { return policy->form(handle); });
  nlohmann::json json = form != nullptr ? nlohmann::json::parse(form, nullptr, false) : nlohmann::json();
  if (json.is_object()) return json;
  throw TrialFailure(BP_E_INTERNAL, learner.id(), std::string("form: expected a JSON object, got ") + (form ? form : "NULL"));
}

const bp_learner_state_1& NeedState(const LearnerInstance& learner) {
  const bp_learner_state_1* state = StateOf(learner);
  if (state != nullptr) return *state;
  throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                     "cannot resume from a different stage, because it does not offer " BP_LEARNER_STATE_1);
}

void StartLearner(LearnerInstance& learner, const std::vector<std::byte>& saved, const std::string& other_trial) {
  const bp_learner_state_1& state = NeedState(learner);
  try {
    LoadLearner(state, learner, saved);
  } catch (const TrialFailure& failure) {
    // No plugin is at fault: two phases do not fit together.
    const bool misfit = failure.status() == BP_E_IO || failure.status() == BP_E_INVALID_ARG;
    throw TrialFailure(misfit ? BP_E_CONFIG : failure.status(), "",
                       "the state of the stage before (trial " + other_trial + ") does not fit this one: " + failure.what());
  }
}

namespace {

constexpr const char *kRowsPart = "env", *kWholePart = "env_state", *kWrapperPart = "wrappers";  // parts of a checkpoint

const bp_env_state_1* StateOf(const EnvInstance& env) {
  return env.on_device() ? nullptr : env.innermost().Extension<bp_env_state_1>(BP_ENV_STATE_1);
}

const char* PartFor(const EnvInstance& env) { return HasSnapshots(env) ? kRowsPart : kWholePart; }

}  // namespace

bool KeepsEnvState(const EnvInstance& env) {
  return HasSnapshots(env) || (StateOf(env) != nullptr && HasWrapperSnapshots(env));
}

std::string KeepsNoState(const EnvInstance& env) {
  const EnvInstance* each = &env;
  while (each->below() != nullptr && each->Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1) != nullptr)
    each = &each->below()->env();
  return each->id();
}

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
  env.innermost().Call("save", [&](bp_env* handle) { return StateOf(env)->save(handle, writer.get()); });
  if (env.below() != nullptr) checkpoint->parts[kWrapperPart] = SaveWrapperRows(env, 0, env.rows());
}

void SaveEnv(std::vector<std::byte> rows, Checkpoint* checkpoint) { checkpoint->parts[kRowsPart] = std::move(rows); }

void LoadEnv(EnvInstance& env, const Checkpoint& checkpoint) {
  const std::vector<std::byte>& bytes = PartOf(checkpoint, PartFor(env));
  if (HasSnapshots(env)) return LoadRows(env, bytes);
  const StateReader reader(bytes);
  env.innermost().Call("load", [&](bp_env* handle) { return StateOf(env)->load(handle, reader.get()); });
  reader.CheckAllIsRead(env.innermost().id());
  if (env.below() != nullptr) LoadWrapperRows(env, 0, env.rows(), PartOf(checkpoint, kWrapperPart));
}

}  // namespace backplane
