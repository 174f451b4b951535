// How the loop serves a learner of a data set.
#include <fmt/format.h>

#include "data/fit.hpp"
#include "trial/loop.hpp"

namespace backplane {

// One group of a data set: an iteration and an update.
void TrialLoop::Data(const bp_request& request) {
  DataLoader& feed = Feed();
  open_ = true;
  iteration_start_ns_ = NowNs();
  parts_.status.SetPhase("data");
  PhaseSpan span(clocks_[0], Phase::kEnvStep);
  const bool served = feed.DeliverGroup(request, OpenIteration(), env_steps_, [&] {
    collect_ns_ = SinceIterationStart();
    clocks_[0].Switch(Phase::kUpdateBackward);
    parts_.status.SetPhase("update");
  });
  RestoreState(Suspects());
  RecordFeed();
  if (!served) {
    open_ = false;
    stopped_ = true;
    return;
  }
  begun_ = true;
  iteration_steps_ = feed.group_items();
  env_steps_ += iteration_steps_;
}

DataLoader& TrialLoop::Feed() {
  if (feed_) return *feed_;
  if (SourceOf(parts_.env) == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, parts_.learner.id(),
                       "asks for data, and " + parts_.env.id() + " is no data set (it does not offer " BP_ENV_SOURCE_1 ")");
  const Experiment& experiment = parts_.spec.experiment;
  feed_ = std::make_unique<DataLoader>(parts_.env, parts_.learner,
                                       DataLoaderOptions{experiment.seed, experiment.resources.device_memory_bytes.value_or(0),
                                                         experiment.on_failure.device_oom.action == FailureAction::kShrink},
                                       [this] {
                                         parts_.status.Beat();
                                         return parts_.cancelled.load(std::memory_order_relaxed);
                                       });
  epoch_metric_ = parts_.metrics.Add(false, {"data/epoch", "", "epochs read so far", 0});
  micro_batch_metric_ = parts_.metrics.Add(false, {"data/micro_batch", "items", "items the learner works on at once", 0});
  oom_metric_ =
      parts_.metrics.Add(false, {"data/oom_count", "", "times an update did not fit and was done in smaller parts", -1});
  first_oom_metric_ = parts_.metrics.Add(false, {"data/first_oom", "", "the iteration in which it was so first", 0});
  if (ReportsDeviceUse(parts_.learner)) {
    device_live_metric_ = parts_.metrics.Add(
        true, {"device/live_mb", "MiB", "memory of the learner's device in use after a micro-batch, mean", -1});
    device_peak_metric_ = parts_.metrics.Add(true, {"device/peak_mb", "MiB", "at most, in this iteration", -1});
    device_reserved_metric_ =
        parts_.metrics.Add(true, {"device/reserved_mb", "MiB", "taken from the device, caches included, at most", -1});
  }
  return *feed_;
}

void TrialLoop::RecordFeed() {
  parts_.metrics.Record(epoch_metric_, feed_->epochs());
  parts_.metrics.Record(micro_batch_metric_, static_cast<double>(feed_->micro_batch()));
  if (device_live_metric_ >= 0) {
    constexpr double kMiB = 1024 * 1024;
    const GroupMemory& device = feed_->device();
    parts_.metrics.Record(device_live_metric_, device.live_bytes / kMiB);
    parts_.metrics.Record(device_peak_metric_, device.peak_bytes / kMiB);
    parts_.metrics.Record(device_reserved_metric_, device.reserved_bytes / kMiB);
  }
  const size_t shrinks = feed_->shrinks().size();
  if (shrinks > 0 && shrinks_told_ == 0) parts_.metrics.Record(first_oom_metric_, static_cast<double>(OpenIteration()));
  parts_.metrics.Record(oom_metric_, static_cast<double>(shrinks - shrinks_told_));
  for (; shrinks_told_ < feed_->shrinks().size(); ++shrinks_told_) {
    const Shrink& shrink = feed_->shrinks()[shrinks_told_];
    Warn(fmt::format("out of memory in iteration {}: goes on with {} items at a time instead of {}, the update stays the same",
                     shrink.iteration, shrink.micro_batch_after, shrink.micro_batch_before));
  }
}

}  // namespace backplane
