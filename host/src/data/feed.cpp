#include "data/feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backplane/ext/held_out.h"
#include "backplane/rng.h"
#include "base/json_fields.hpp"
#include "data/fit.hpp"

namespace backplane {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

uint64_t LengthOf(EnvInstance& env) {
  const uint64_t length = SourceOf(env)->length(env.handle());
  if (length == 0) throw TrialFailure(BP_E_INTERNAL, env.id(), "is a data set of 0 items");
  return length;
}

// Of a group.
uint64_t LeastItems(const bp_request& request) {
  return request.u.data.flags & BP_DATA_DROP_LAST ? request.u.data.group_rows : 1;
}

nlohmann::json ShrinksJson(const std::vector<Shrink>& shrinks) {
  nlohmann::json list = nlohmann::json::array();
  for (const Shrink& one : shrinks)
    list.push_back({{"iteration", one.iteration},
                    {"micro_batch_before", one.micro_batch_before},
                    {"micro_batch_after", one.micro_batch_after},
                    {"live_bytes", one.live_bytes},
                    {"peak_bytes", one.peak_bytes}});
  return list;
}

}  // namespace

DataFeed::DataFeed(EnvInstance& env, LearnerInstance& learner, FeedOptions options, std::function<bool()> between)
    : env_(env),
      learner_(learner),
      options_(options),
      between_(std::move(between)),
      group_(env),
      items_(LengthOf(env)),
      micro_batch_max_(kNoLimit) {}

void DataFeed::Prepare(const bp_request& request) {
  const auto& data = request.u.data;
  if (data.group_rows == 0) throw TrialFailure(BP_E_INTERNAL, learner_.id(), "asks for a group of 0 items");
  if (items_ < LeastItems(request))
    throw TrialFailure(BP_E_CONFIG, learner_.id(),
                       fmt::format("asks for groups of {} items and leaves out short ones, and the data has {} items",
                                   data.group_rows, items_));
  if (data.micro_batch == 0 && micro_batch_max_ == kNoLimit)
    micro_batch_max_ = LargestMicroBatch(env_, learner_, data.group_rows, options_.device_bytes, between_);
  micro_batch_ = std::min({data.micro_batch == 0 ? kNoLimit : data.micro_batch, micro_batch_max_, data.group_rows});
}

bool DataFeed::Serve(const bp_request& request, uint64_t iteration, uint64_t env_steps, const std::function<void()>& read) {
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
      Shrunk(iteration, micro_batch_, failure.what());
      micro_batch_ = micro_batch_max_;
    }
  }
  item_ += n;
  if (items_ - item_ < least) ++epoch_, item_ = 0;
  return true;
}

bool DataFeed::Deliver(uint64_t micro_batch, uint64_t env_steps) {
  ResetDevicePeak(learner_);
  device_ = {};
  const std::vector<bp_delivery> parts = group_.Cut(micro_batch);
  for (bp_delivery delivery : parts) {
    if (between_()) return false;
    delivery.env_steps = env_steps;
    learner_.Consume(delivery);
    const bp_device_use use = DeviceUse(learner_);
    device_.live_bytes += static_cast<double>(use.live_bytes) / static_cast<double>(parts.size());
    device_.peak_bytes = static_cast<double>(use.peak_bytes);
    device_.reserved_bytes = std::max({device_.reserved_bytes, device_.peak_bytes, static_cast<double>(use.reserved_bytes)});
  }
  return true;
}

void DataFeed::Shrunk(uint64_t iteration, uint64_t micro_batch, const std::string& why) {
  const uint64_t largest = std::min(micro_batch, group_.items());
  if (largest == 1)
    throw TrialFailure(BP_E_OOM_DEVICE, learner_.id(), "one item at a time does not fit the device either: " + why);
  micro_batch_max_ = largest / 2;
  const bp_device_use use = DeviceUse(learner_);
  shrinks_.push_back({iteration, micro_batch, micro_batch_max_, use.live_bytes, use.peak_bytes});
}

bool DataFeed::JudgesUnseen() const { return learner_.Extension<bp_learner_held_out_1>(BP_LEARNER_HELD_OUT_1) != nullptr; }

std::optional<HeldOut> DataFeed::HeldOutLoss(EnvInstance& env, uint64_t n) {
  const auto* held_out = learner_.Extension<bp_learner_held_out_1>(BP_LEARNER_HELD_OUT_1);
  if (held_out == nullptr || SourceOf(env) == nullptr) return std::nullopt;
  ItemGroup group(env);
  group.Read(0, 0, std::min(n, LengthOf(env)), true);
  const auto loss_in = [&](uint64_t micro_batch) {
    double sum = 0;
    for (const bp_delivery& delivery : group.Cut(micro_batch)) {
      if (between_()) throw TrialFailure(BP_E_CANCELLED, "", "stopped during the evaluation");
      double part = 0;
      const bp_status status = CallPlugin(learner_.id(), [&] { return held_out->loss(learner_.handle(), &delivery, &part); });
      if (status != BP_OK) learner_.Fail(status, "held-out loss");
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

nlohmann::json DataFeed::Save() const {
  return {{"epoch", epoch_},
          {"item", item_},
          {"micro_batch", micro_batch_},
          {"micro_batch_max", micro_batch_max_},
          {"shrinks", ShrinksJson(shrinks_)}};
}

void DataFeed::Load(const nlohmann::json& saved) {
  epoch_ = saved.at("epoch");
  item_ = saved.at("item");
  micro_batch_ = saved.at("micro_batch");
  micro_batch_max_ = saved.at("micro_batch_max");
  shrinks_.clear();
  // Absent in checkpoints of earlier versions.
  for (const nlohmann::json& one : At(saved, "shrinks"))
    shrinks_.push_back({one.at("iteration"), one.at("micro_batch_before"), one.at("micro_batch_after"), one.at("live_bytes"),
                        one.at("peak_bytes")});
  if (item_ >= items_)
    throw TrialFailure(
        BP_E_CONFIG, env_.id(),
        fmt::format("had more items when the trial was stopped: item {} comes next, and it has {}", item_, items_));
}

nlohmann::json ToJson(const DataFeed& feed) {
  return {{"items", feed.items()},
          {"epochs", feed.epochs()},
          {"micro_batch", feed.micro_batch()},
          {"shrinks", ShrinksJson(feed.shrinks())}};
}

}  // namespace backplane
