#include "trial/collect_rollouts.hpp"

#include <cstring>

#include "trial/budget.hpp"
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

RolloutCollectorConfig ConfigOfCollector(const LoopParts& parts) {
  const uint64_t seed = parts.spec.experiment.seed;
  if (parts.acts_whole) return {.chunk_rows = parts.spec.experiment.rollout.ChunkRows(), .seed = seed, .acts_whole = true};
  return {parts.call_rows, seed, parts.chunk_rows, parts.workers ? parts.workers->memory() : nullptr};
}

}  // namespace

void EndedEpisodes::Add(const std::vector<Episode>& episodes, size_t infos) {
  infos_each_ = infos;
  for (const Episode& episode : episodes) infos_.insert(infos_.end(), episode.info, episode.info + infos);
  episodes_.insert(episodes_.end(), episodes.begin(), episodes.end());
}

const std::vector<Episode>& EndedEpisodes::Episodes() {
  for (size_t i = 0; i < episodes_.size(); ++i) episodes_[i].info = infos_.data() + i * infos_each_;
  return episodes_;
}

CollectRollouts::CollectRollouts(const LoopParts& parts, LoopState& state, PlayRecord& record, WarningList& warnings)
    : parts_(parts),
      state_(state),
      record_(record),
      warnings_(warnings),
      collector_(parts.env, parts.learner, parts.acts_whole ? parts.threads.steppers() : parts.threads.collectors(),
                 ConfigOfCollector(parts), parts.stop(), [&status = parts.status] { status.Beat(); }) {}

void CollectRollouts::Check(const bp_request& request) const {
  CheckBudgetEnds(parts_, "collects rollouts");
  CheckParts(request, parts_.env, parts_.learner);
  if (parts_.workers) CheckPlaysElsewhere(parts_.learner, parts_.env, request);
}

bool CollectRollouts::Collect(const bp_request& request) {
  state_.iteration.Start();
  state_.iteration.begun = true;
  if (parts_.moment) parts_.moment->BeforeRollout(state_.count.open_iteration(), collector_);
  const Spent spent = state_.count.SpentOfBudget(state_.clock.trial_s(), 0);
  const int64_t deadline_ns = DeadlineOf(parts_.spec.experiment.budget, spent, Deadline::kPatienceAfterBudget);
  ended_.Clear();
  RolloutPart part(request.u.rollout.horizon, request.u.rollout.part, 0);
  for (;;) {
    if (!Play(part)) return false;
    const int64_t played_ns = parts_.clock().since_ns();
    Deliver(part);
    if (part.last()) return true;
    const int64_t now_ns = parts_.clock().since_ns();
    // Without a state from before the iteration, its end is the next state to save (Ticks::EndTrial).
    if (now_ns >= deadline_ns && !parts_.learner.large()) return false;
    state_.iteration.between_ns += now_ns - played_ns;
    part = RolloutPart(request.u.rollout.horizon, part.room, part.index + 1);
  }
}

bool CollectRollouts::Play(const RolloutPart& part) {
  parts_.status.SetPhase("rollout");
  std::vector<PhaseClock>& clocks = parts_.threads.clocks();
  WorkerGroup* const workers = parts_.workers;
  if (!(workers ? workers->PlayRollout(part, SavePolicy(parts_.learner), &collector_, clocks)
                : collector_.Collect(part, clocks)))
    return false;
  ended_.Add(collector_.episodes(), collector_.info_names().size());
  if (part.last()) record_.Add((part.first + part.steps) * parts_.env.rows(), ended_.Episodes(), collector_.info_names());
  if (workers || collector_.measured_use()) record_.AddUse(workers ? workers->use() : collector_.use());
  return true;
}

void CollectRollouts::Deliver(const RolloutPart& part) {
  const PhaseSpan span(parts_.clock(), Phase::kBatchBuild);
  parts_.status.SetPhase("batch_build");
  bp_delivery delivery = collector_.Delivery();
  delivery.env_steps = state_.count.env_steps + (part.last() ? 0 : (part.first + part.steps) * parts_.env.rows());
  state_.fingerprints.AddRollout(collector_, part, delivery);
  if (parts_.moment) parts_.moment->AfterPart(state_.count.open_iteration(), collector_, part);
  backplane::Deliver(delivery, parts_, *this);
  collector_.CheckDelivered();
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
      warnings_.Add(KeepsNoState(parts_.env) + " does not save the states of its envs, which started new episodes");
    return collector_.StartAfresh(std::move(rows), policy_steps);
  }
  // The horizon is arbitrary here: the first rollout binds its own and copies the states.
  collector_.Restore(std::move(rows), policy_steps, PartOf(checkpoint, "states"), 1);
  LoadEnv(parts_.env, checkpoint);
}

}  // namespace backplane
