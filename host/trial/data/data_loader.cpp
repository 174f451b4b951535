#include "data/data_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backplane/ext/held_out.h"
#include "backplane/rng.h"
#include "data/micro_batch_limit.hpp"

namespace backplane {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

// The minimum size of a group.
uint64_t LeastItems(const bp_request& request) {
  return request.u.data.flags & BP_DATA_DROP_LAST ? request.u.data.group_rows : 1;
}

}  // namespace

DataLoader::DataLoader(EnvInstance& env, LearnerInstance& learner, DataLoaderOptions options,
                       std::function<bool()> stop_requested)
    : env_(env),
      learner_(learner),
      options_(options),
      stop_requested_(std::move(stop_requested)),
      group_(env),
      items_(ItemsOf(env)),
      micro_batch_max_(kNoLimit) {}

void DataLoader::Prepare(const bp_request& request) {
  const auto& data = request.u.data;
  if (data.group_rows == 0 || data.group_rows > kMaxItems)
    throw TrialFailure(BP_E_INTERNAL, learner_.id(),
                       fmt::format("asks for data: expected a group of 1 to {} items, got {}", kMaxItems, data.group_rows));
  if (items_ < LeastItems(request))
    throw TrialFailure(BP_E_CONFIG, learner_.id(),
                       fmt::format("asks for groups of {} items and skips short ones, but the data has only {} items",
                                   data.group_rows, items_));
  if (data.micro_batch == 0 && micro_batch_max_ == kNoLimit)
    micro_batch_max_ = LargestMicroBatch(env_, learner_, data.group_rows, options_.device_bytes, stop_requested_);
  micro_batch_ = std::min({data.micro_batch == 0 ? kNoLimit : data.micro_batch, micro_batch_max_, data.group_rows});
}

bool DataLoader::DeliverGroup(const bp_request& request, uint64_t iteration, uint64_t env_steps,
                              const std::function<void()>& read) {
  const auto& data = request.u.data;
  Prepare(request);
  const uint64_t least = LeastItems(request);
  if (items_ - item_ < least) ++epoch_, item_ = 0;
  const uint64_t n = std::min(data.group_rows, items_ - item_);
  group_.Read(bp_seed(options_.seed, BP_PURPOSE_SOURCE, 0, epoch_), item_, n, (data.flags & BP_DATA_SORT) != 0);
  read();
  for (;;) {
    try {
      if (!Deliver(micro_batch_, env_steps + n)) return false;
      break;
    } catch (const TrialFailure& failure) {
      if (failure.status() != BP_E_OOM_DEVICE || !options_.shrink) throw;
      ShrinkMicroBatch(iteration, micro_batch_, failure.what());
      micro_batch_ = micro_batch_max_;
    }
  }
  item_ += n;
  if (items_ - item_ < least) ++epoch_, item_ = 0;
  return true;
}

bool DataLoader::Deliver(uint64_t micro_batch, uint64_t env_steps) {
  ResetDevicePeak(learner_);
  device_ = {};
  const std::vector<bp_delivery> parts = group_.Cut(micro_batch);
  for (bp_delivery delivery : parts) {
    if (stop_requested_()) return false;
    delivery.env_steps = env_steps;
    learner_.Consume(delivery);
    const bp_device_use use = DeviceUse(learner_);
    device_.live_bytes += static_cast<double>(use.live_bytes) / static_cast<double>(parts.size());
    device_.peak_bytes = static_cast<double>(use.peak_bytes);
    device_.reserved_bytes = std::max({device_.reserved_bytes, device_.peak_bytes, static_cast<double>(use.reserved_bytes)});
  }
  return true;
}

void DataLoader::ShrinkMicroBatch(uint64_t iteration, uint64_t micro_batch, const std::string& why) {
  micro_batch_max_ = HalvedMicroBatch(learner_, micro_batch, group_.items(), why);
  const bp_device_use use = DeviceUse(learner_);
  shrinks_.push_back({iteration, micro_batch, micro_batch_max_, use.live_bytes, use.peak_bytes});
}

bool DataLoader::HasHeldOutLoss() const { return learner_.Extension<bp_learner_held_out_1>(BP_LEARNER_HELD_OUT_1) != nullptr; }

std::optional<HeldOut> DataLoader::HeldOutLoss(EnvInstance& env, uint64_t n) {
  const auto* held_out = learner_.Extension<bp_learner_held_out_1>(BP_LEARNER_HELD_OUT_1);
  if (held_out == nullptr || SourceOf(env) == nullptr) return std::nullopt;
  ItemGroup group(env);
  group.Read(0, 0, std::min(n, ItemsOf(env)), true);
  const auto loss_in = [&](uint64_t micro_batch) {
    double sum = 0;
    for (const bp_delivery& delivery : group.Cut(micro_batch)) {
      if (stop_requested_()) throw TrialFailure(BP_E_CANCELLED, "", "stopped during the evaluation");
      double part = 0;
      learner_.Call("held-out loss", [&](bp_learner* learner) { return held_out->loss(learner, &delivery, &part); });
      sum += part;
    }
    return sum;
  };
  for (uint64_t micro_batch = std::clamp<uint64_t>(micro_batch_, 1, group.items());; micro_batch /= 2) {
    try {
      return HeldOut{loss_in(micro_batch) / group.weight(), group.items()};
    } catch (const TrialFailure& failure) {
      if (failure.status() != BP_E_OOM_DEVICE || !options_.shrink || micro_batch == 1) throw;
    }
  }
}

void DataLoader::Load(const DataPosition& saved) {
  if (saved.item >= items_)
    throw TrialFailure(
        BP_E_CONFIG, env_.id(),
        fmt::format("has fewer items than when the trial was stopped: item {} comes next, but it has {}", saved.item, items_));
  if (saved.micro_batch_max == 0)
    throw TrialFailure(BP_E_IO, env_.id(), "the checkpoint's micro-batch size: expected 1 or more, got 0");
  epoch_ = saved.epoch;
  item_ = saved.item;
  micro_batch_ = saved.micro_batch;
  micro_batch_max_ = saved.micro_batch_max;
  shrinks_ = saved.shrinks;
}

}  // namespace backplane
