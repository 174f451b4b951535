#include "trial/start_workers.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backplane/ext/policy.h"
#include "backplane/ext/snapshot.h"
#include "base/python.hpp"
#include "machine/cpu.hpp"
#include "rollout/row_snapshots.hpp"
#include "trial/plugin_state.hpp"
#include "workers/local_workers.hpp"
#include "workers/ray_workers.hpp"

namespace backplane {
namespace {

[[noreturn]] void RefuseWorkers(const std::string& plugin, const std::string& why) {
  throw TrialFailure(BP_E_UNSUPPORTED, plugin, fmt::format("{}; remove {}", why, kWorkersKey));
}

// Set by the engine that runs the trial: "ray:ADDRESS". Absent: workers are processes on this machine.
std::optional<std::string> RayCluster() {
  constexpr std::string_view kRay = "ray:";
  const char* const place = std::getenv("BACKPLANE_WORKERS");
  if (place == nullptr || *place == '\0') return std::nullopt;
  if (!std::string_view(place).starts_with(kRay))
    throw TrialFailure(BP_E_CONFIG, "", fmt::format("BACKPLANE_WORKERS: expected ray:ADDRESS, got {}", place));
  return place + kRay.size();
}

}  // namespace

std::unique_ptr<StartedWorkers> StartWorkers(const TrialSpec& spec, const std::filesystem::path& trial_json) {
  const RolloutConfig& rollout = spec.experiment.rollout;
  if (rollout.workers == 0) return nullptr;
  const uint64_t threads = rollout.threads.value_or(spec.experiment.resources.cpus.value_or(GrantedCores()));
  WorkerOrder order;
  order.program = std::filesystem::read_symlink("/proc/self/exe");
  order.trial_json = std::filesystem::absolute(trial_json);
  if (const std::optional<std::string> cluster = RayCluster())
    return StartRayWorkers(FindPython(), *cluster, order, rollout.workers, threads);
  return StartLocalWorkers(order, rollout.workers, threads, spec.attempt_dir);
}

void CheckPlaysElsewhere(const LearnerInstance& learner) {
  if (!learner.row_exact())
    RefuseWorkers(
        learner.id(),
        "its action for a row may depend on other rows of the call (it is not ROW_EXACT), so workers would change the "
        "results");
  if (StateOf(learner) == nullptr && !OffersPolicy(learner))
    RefuseWorkers(learner.id(),
                  "rollout workers start each iteration from its policy or its saved state, but it offers "
                  "neither (" BP_LEARNER_POLICY_1 ", " BP_LEARNER_STATE_1 ")");
}

void CheckPlaysElsewhere(const LearnerInstance& learner, const EnvInstance& env, const bp_request& request) {
  CheckPlaysElsewhere(learner);
  if (request.kind == BP_REQ_EVALUATE) {
    if (StateOf(learner) == nullptr)
      RefuseWorkers(
          learner.id(),
          "rollout workers plan the candidates from the learner's saved state, but this learner saves none (" BP_LEARNER_STATE_1
          ")");
  } else if (request.kind != BP_REQ_ROLLOUT) {
    RefuseWorkers(learner.id(), "rollout workers play episodes or rollouts, but this learner requests neither");
  } else if (request.u.rollout.part > 0 && !OffersPolicy(learner)) {
    RefuseWorkers(learner.id(),
                  "rollout workers play each part of a rollout with its newest policy, but it does not offer "
                  "any (" BP_LEARNER_POLICY_1 ")");
  } else if (env.resets_itself() || !HasSnapshots(env)) {
    RefuseWorkers(env.id(),
                  env.resets_itself()
                      ? "rollout workers share the envs, but this env steps all of them together and resets them itself"
                      : "the envs of a killed rollout worker are restored one by one, but this env does not save single envs "
                        "(" BP_ENV_SNAPSHOT_1 ")");
  }
}

}  // namespace backplane
