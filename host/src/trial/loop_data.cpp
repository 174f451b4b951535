// How the loop serves a learner of a data set.
#include <fmt/format.h>

#include "trial/loop.hpp"

namespace backplane {

// One group of a data set: an iteration and an update.
void TrialLoop::Data(const bp_request& request) {
  DataFeed& feed = Feed();
  open_ = true;
  iteration_start_ns_ = NowNs();
  parts_.status.SetPhase("data");
  PhaseSpan span(clocks_[0], Phase::kEnvStep);
  const bool served = feed.Serve(request, iterations_ + 1, env_steps_, [&] {
    collect_ns_ = NowNs() - iteration_start_ns_;
    clocks_[0].Switch(Phase::kUpdateBackward);
    parts_.status.SetPhase("update");
  });
  RecordFeed();
  if (!served) {
    open_ = false;
    stopped_ = true;
    return;
  }
  iteration_steps_ = feed.served();
  env_steps_ += iteration_steps_;
}

DataFeed& TrialLoop::Feed() {
  if (feed_) return *feed_;
  if (SourceOf(parts_.env) == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, parts_.learner.id(),
                       "asks for data, and " + parts_.env.id() + " is no data set (it does not offer " BP_ENV_SOURCE_1 ")");
  const Experiment& experiment = parts_.spec.experiment;
  feed_ = std::make_unique<DataFeed>(parts_.env, parts_.learner,
                                     FeedOptions{experiment.seed, experiment.resources.device_memory_bytes.value_or(0),
                                                 experiment.on_failure.device_oom.action == FailureAction::kShrink},
                                     [this] {
                                       parts_.status.Beat();
                                       return parts_.cancelled.load(std::memory_order_relaxed);
                                     });
  epoch_metric_ = parts_.metrics.Add(false, {"data/epoch", "", "epochs read so far", 0});
  micro_batch_metric_ = parts_.metrics.Add(false, {"data/micro_batch", "items", "items the learner works on at once", 0});
  return *feed_;
}

void TrialLoop::RecordFeed() {
  parts_.metrics.Record(epoch_metric_, feed_->epochs());
  parts_.metrics.Record(micro_batch_metric_, static_cast<double>(feed_->micro_batch()));
  for (; shrinks_told_ < feed_->shrinks().size(); ++shrinks_told_) {
    const Shrink& shrink = feed_->shrinks()[shrinks_told_];
    Warn(fmt::format("out of memory in iteration {}: goes on with {} items at a time instead of {}, the update stays the same",
                     shrink.iteration, shrink.micro_batch_after, shrink.micro_batch_before));
  }
}

}  // namespace backplane
