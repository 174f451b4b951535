#include "trial/collect_data.hpp"

#include <fmt/format.h>

#include "data/micro_batch_limit.hpp"
#include "trial/device_memory.hpp"

namespace backplane {

void CollectData::Check(const bp_request&) const {
  const BudgetConfig& budget = parts_.spec.experiment.budget;
  if (budget.episodes && !budget.iterations && !budget.env_steps && !budget.epochs && !budget.wall_time_s)
    throw TrialFailure(BP_E_CONFIG, parts_.learner.id(),
                       "asks for data, which has no episodes, so budget.episodes is never reached; set budget.iterations, "
                       "env_steps, epochs or wall_time instead");
}

bool CollectData::Collect(const bp_request& request) {
  DataLoader& loader = Loader();
  OpenIteration& iteration = state_.iteration;
  iteration.Start();
  parts_.status.SetPhase("data");
  const PhaseSpan span(parts_.clock(), Phase::kEnvStep);
  const bool served = loader.DeliverGroup(request, state_.count.open_iteration(), state_.count.env_steps, [&] {
    iteration.Collected();
    parts_.clock().Switch(Phase::kUpdateBackward);
    parts_.status.SetPhase("update");
  });
  RestoreState(Suspects());
  Record();
  if (!served) return false;
  state_.fingerprints.AddGroup(loader.group());
  iteration.begun = true;
  iteration.steps = loader.group_items();
  state_.count.env_steps += iteration.steps;
  return true;
}

DataLoader& CollectData::Loader() {
  if (loader_) return *loader_;
  if (SourceOf(parts_.env) == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, parts_.learner.id(),
                       "asks for data, but " + parts_.env.id() + " is not a data set (it does not offer " BP_ENV_SOURCE_1 ")");
  const Experiment& experiment = parts_.spec.experiment;
  loader_ = std::make_unique<DataLoader>(
      parts_.env, parts_.learner,
      DataLoaderOptions{experiment.seed, experiment.resources.device_memory.value_or(DeviceMemory()).bytes,
                        experiment.on_failure.device_oom.action == FailureAction::kShrink},
      [this] {
        parts_.status.Beat();
        return parts_.stop().load(std::memory_order_relaxed);
      });
  parts_.metrics.Register("data/first_oom");
  return *loader_;
}

void CollectData::Record() {
  parts_.metrics.Record("data/epoch", loader_->epochs());
  parts_.metrics.Record("data/micro_batch", static_cast<double>(loader_->micro_batch()));
  if (ReportsDeviceUse(parts_.learner)) RecordDeviceUse(loader_->device(), &parts_.metrics);
  TellShrinks();
}

void CollectData::TellShrinks() {
  const std::vector<Shrink>& shrinks = loader_->shrinks();
  if (!shrinks.empty() && shrinks_told_ == 0)
    parts_.metrics.Record("data/first_oom", static_cast<double>(state_.count.open_iteration()));
  parts_.metrics.Record("data/oom_count", static_cast<double>(shrinks.size() - shrinks_told_));
  for (; shrinks_told_ < shrinks.size(); ++shrinks_told_) {
    const Shrink& shrink = shrinks[shrinks_told_];
    warnings_.Add(fmt::format(
        "out of memory in iteration {}: continuing with {} items at a time instead of {}; the update stays the same",
        shrink.iteration, shrink.micro_batch_after, shrink.micro_batch_before));
  }
}

void CollectData::Limit(bp_limits* limits) const {
  if (SourceOf(parts_.env) != nullptr) limits->items = ItemsOf(parts_.env);
  if (loader_) limits->micro_batch_max = loader_->micro_batch_max();
}

void CollectData::Save(Checkpoint* checkpoint) {
  if (loader_) checkpoint->header.data = loader_->Save();
}

std::unique_ptr<HeldOutPieces> CollectData::HeldOutInPieces(EnvInstance& env, uint64_t piece) {
  if (!HasHeldOutLoss() || SourceOf(env) == nullptr || !(parts_.learner.spec().flags & BP_LEARNER_HELD_OUT_ANY)) return nullptr;
  return std::make_unique<HeldOutPieces>(env, parts_.learner, env.rows(), piece);
}

// Call after the trial's count was restored.
void CollectData::Load(const Checkpoint& checkpoint) {
  if (!checkpoint.header.data) return;
  Loader().Load(*checkpoint.header.data);
  // A stopped group runs again, and its line reports its shrinks.
  for (const Shrink& one : loader_->shrinks())
    if (one.iteration < state_.count.open_iteration()) ++shrinks_told_;
}

std::optional<DataResult> CollectData::Result() const {
  if (!loader_) return std::nullopt;
  return DataResult{loader_->items(), loader_->epochs(), loader_->micro_batch(), loader_->shrinks()};
}

}  // namespace backplane
