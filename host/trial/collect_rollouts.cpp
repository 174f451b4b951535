#include "trial/collect_rollouts.hpp"

#include <cstring>

#include "trial/checkpoint.hpp"
#include "trial/moment_recorder.hpp"
#include "trial/plugin_state.hpp"
#include "trial/start_workers.hpp"

namespace backplane {
namespace {

template <class T>
std::vector<std::byte> ToBytes(const std::vector<T>& items) {
  std::vector<std::byte> out(items.size() * sizeof(T));
  if (!items.empty()) std::memcpy(out.data(), items.data(), out.size());
  return out;
}

}  // namespace

CollectRollouts::CollectRollouts(const LoopParts& parts, LoopState& state, PlayRecord& record, WarningList& warnings)
    : parts_(parts),
      state_(state),
      record_(record),
      warnings_(warnings),
      collector_(
          parts.env, parts.learner, parts.threads.collectors(),
          {parts.call_rows, parts.spec.experiment.seed, parts.chunk_rows, parts.workers ? parts.workers->memory() : nullptr},
          parts.stop(), [&status = parts.status] { status.Beat(); }) {}

void CollectRollouts::Check(const bp_request& request) const {
  CheckBudgetEnds(parts_, "collects rollouts");
  CheckHorizon(request.u.rollout.horizon, parts_.env, parts_.learner);
  if (parts_.workers) CheckPlaysElsewhere(parts_.learner, parts_.env, request);
}

bool CollectRollouts::Collect(const bp_request& request) {
  state_.iteration.Start();
  state_.iteration.begun = true;
  parts_.status.SetPhase("rollout");
  const uint64_t horizon = request.u.rollout.horizon;
  std::vector<PhaseClock>& clocks = parts_.threads.clocks();
  WorkerGroup* const workers = parts_.workers;
  if (parts_.moment) parts_.moment->BeforeRollout(state_.count.open_iteration(), collector_);
  if (!(workers ? workers->PlayRollout(horizon, SavePolicy(parts_.learner), &collector_, clocks)
                : collector_.Collect(horizon, clocks)))
    return false;
  record_.Add(horizon * parts_.env.rows(), workers ? workers->use() : collector_.use(), collector_.episodes(),
              collector_.info_names());
  const PhaseSpan span(parts_.clock(), Phase::kBatchBuild);
  parts_.status.SetPhase("batch_build");
  bp_delivery delivery = collector_.Delivery();
  delivery.env_steps = state_.count.env_steps;
  state_.fingerprints.AddRollout(collector_, horizon, delivery);
  if (parts_.moment) parts_.moment->AfterRollout(state_.count.open_iteration(), collector_, horizon);
  Deliver(delivery, parts_, *this);
  collector_.CheckDelivered();
  return true;
}

std::optional<std::string> CollectRollouts::NonFiniteObservation() const {
  const std::optional<NonFinite> found = collector_.NonFiniteObservation();
  return found ? std::optional(found->text) : std::nullopt;
}

void CollectRollouts::Save(Checkpoint* checkpoint) {
  checkpoint->header.policy_steps = collector_.policy_steps();
  if (collector_.policy_steps() == 0) return;
  checkpoint->parts["rows"] = ToBytes(collector_.rows().state);
  if (!collector_.started()) return;  // its rows were used for candidates since
  if (!KeepsEnvState(parts_.env)) return;
  collector_.holds_elsewhere() ? SaveEnv(collector_.SaveEnvRows(), checkpoint) : SaveEnv(parts_.env, checkpoint);
  checkpoint->parts["states"] = collector_.SaveStateEntries();
}

void CollectRollouts::Load(const Checkpoint& checkpoint) {
  if (!checkpoint.parts.contains("rows")) return;  // saved before the first rollout
  std::vector<RowState> rows = RowStatesOf(checkpoint, parts_.env.rows());
  const uint64_t policy_steps = checkpoint.header.policy_steps;
  if (!HasEnvState(checkpoint, parts_.env)) {
    if (!KeepsEnvState(parts_.env))
      warnings_.Add(parts_.env.id() + " does not save the states of its envs, which started new episodes");
    return collector_.StartAfresh(std::move(rows), policy_steps);
  }
  // The horizon is arbitrary here: the first rollout binds its own and copies the states.
  collector_.Restore(std::move(rows), policy_steps, PartOf(checkpoint, "states"), 1);
  LoadEnv(parts_.env, checkpoint);
}

}  // namespace backplane
