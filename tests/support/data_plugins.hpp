// A small data set and a learner of it; every number can be computed by hand.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "backplane/data_learner.hpp"
#include "backplane/env.hpp"

namespace backplane {

// Item i has 1 + 5 i % capacity numbers, all equal to i, and its weight is its length. As an env: one step whose reward is the
// action.
class Numbers {
 public:
  static constexpr bp::About kAbout{"env.numbers", "1.0.0", "A data set of numbers."};
  struct Options {
    int64_t items = 10, capacity = 6;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("items", &Options::items, "[0,)", "How many there are."),
      bp::Opt("capacity", &Options::capacity, "[1,)", "Numbers of an item at most."),
  };
  Numbers(const Options& options, uint64_t) : items_(options.items), capacity_(options.capacity) { spec_.MaxEpisodeSteps(1); }

  bp::EnvSpec Spec() const { return spec_; }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t*) {
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) Write(slot, r, static_cast<int64_t>(r) % std::max<int64_t>(items_, 1));
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      slot.Row(reward_, r)[0] = slot.Row(action_, r)[0];
      slot.Row(weight_, r)[0] = 1;
      slot.Row(terminated_, r)[0] = 1;
    }
  }
  uint64_t Items() const { return items_; }
  void Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot& slot) {
    std::vector<int64_t> order(items_);
    std::iota(order.begin(), order.end(), 0);
    bp::Rng rng(seed);
    for (int64_t i = items_ - 1; seed != 0 && i > 0; --i) std::swap(order[i], order[rng.Below(i + 1)]);
    for (uint64_t i = 0; i < n; ++i) {
      Write(slot, i, order[first + i]);
      slot.Row(weight_, i)[0] = static_cast<float>(slot.Row(length_, i)[0]);
    }
  }

 private:
  void Write(const bp::Slot& slot, uint64_t row, int64_t item) const {
    std::ranges::fill(slot.Row(obs_, row), static_cast<float>(item));
    slot.Row(length_, row)[0] = static_cast<int32_t>(1 + 5 * item % capacity_);
  }

  int64_t items_, capacity_;
  bp::EnvSpec spec_;
  bp::Handle<float> obs_ = spec_.Obs(capacity_).Get<float>(BP_ROLE_OBS);
  bp::Handle<int32_t> length_ = spec_.Add<int32_t>({.role = BP_ROLE_LENGTH, .name = "obs_length"});

 protected:
  bp::Handle<float> weight_ = spec_.Add<float>({.role = BP_ROLE_WEIGHT, .name = "weight"});

 private:
  bp::Handle<const float> action_ = spec_.ActionBox(1, -1000, 1000).Get<const float>(BP_ROLE_ACTION);
  bp::Handle<float> reward_ = spec_.Reward().Get<float>(BP_ROLE_REWARD);
  bp::Handle<uint8_t> terminated_ = spec_.Terminated().Get<uint8_t>(BP_ROLE_TERMINATED);
};

// Adds up its input: after a group, `sum` has grown by the sum of all its numbers, divided by the group's weight. On its
// fictitious device, a micro-batch of n items of length l needs 1,000 + 10 n l bytes.
class Adds : public bp::DataLearner, public bp::LearnerPlugin<Adds> {
 public:
  static constexpr bp::About kAbout{.id = "learner.adds", .version = "1.0.0", .summary = "Adds numbers up."};
  struct Options : bp::DataRequest {
    Options() { group = 4; }
    bool tells_use = true;
    int64_t fails_at = -1, sleep_us = 0;
    uint32_t evaluation_rows = 0;
    bool held_out_any = false;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("group", &Options::group, "[0,)", "Items of an update."),
      bp::Opt("micro_batch", &Options::micro_batch, "[0,)", "Items at a time; 0: the most that fit."),
      bp::Opt("sort", &Options::sort, "Longest items first."),
      bp::Opt("drop_last", &Options::drop_last, "Leave out a short last group."),
      bp::Opt("tells_use", &Options::tells_use, "Whether it tells how much of its device it uses."),
      bp::Opt("fails_at", &Options::fails_at, "[-1,)", "The update whose loss is no number; -1: none."),
      bp::Opt("sleep_us", &Options::sleep_us, "[0,)", "An update takes at least so long.", {.unit = "us"}),
      bp::Opt("evaluation_rows", &Options::evaluation_rows, "[0,)",
              "Rows of a call in an evaluation, whose number it acts; 0: it acts the sum."),
      bp::Opt("held_out_any", &Options::held_out_any,
              "Takes the held-out loss of the items it has just acted for, and no other."),
  };
  // The arguments of `consume`, for tests in the same process.
  struct Seen {
    std::vector<int> items;
    int64_t longest;
    bp_delivery raw;
  };

  explicit Adds(const bp::LearnerSetup& setup) : DataLearner(setup), options_(kOptions.Read(setup.config)), metrics_(host()) {
    spec_.ActIn("obs");
    spec_.ActOut(bp::NeedChannel(*setup.env, BP_ROLE_ACTION));
    spec_.set_params(1);
    spec_.set_evaluation_rows(options_.evaluation_rows);
    if (options_.held_out_any) spec_.set_flags(BP_LEARNER_ROW_EXACT | BP_LEARNER_HELD_OUT_ANY);
  }
  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  bp::DataRequest NextGroup() override { return options_; }
  void OnLimits(const bp_limits& limits) override { device_bytes_ = limits.device_bytes; }

  void OnMicroBatch(const bp::Delivery& delivery) override {
    const auto obs = delivery.Get<float>("obs");
    const auto length = delivery.Get<int32_t>("obs_length");
    Seen seen{{}, obs.Size(1), delivery.raw()};
    double sum = 0;
    for (int64_t i = 0; i < obs.Size(0); ++i) {
      seen.items.push_back(static_cast<int>(*obs.At(i)));
      sum += *obs.At(i) * static_cast<double>(*length.At(i));
    }
    Take(obs.Size(0) * obs.Size(1));
    seen_.push_back(seen);
    if (delivery.raw().flags & BP_DELIVERY_PROBE) return;
    partial_ += sum;
    if (!(delivery.raw().flags & BP_DELIVERY_LAST_IN_GROUP)) return;
    if (options_.sleep_us > 0) usleep(static_cast<useconds_t>(options_.sleep_us));
    if (updates_ == options_.fails_at) throw bp::Error(BP_E_NUMERIC, "the loss is not finite");
    sum_ += partial_ / delivery.raw().group_weight;
    partial_ = 0;
    ++updates_;
    metrics_.Record("train/sum", sum_);
    metrics_.Record("train/updates_before", static_cast<double>(UpdatesDone()));  // of this trial
    metrics_.Record("train/updates_in_all", static_cast<double>(UpdatesInAll(options_.group)));
  }
  // The mean number; `held out` is the distance from it.
  double HeldOutLoss(const bp::Delivery& delivery) {
    const auto obs = delivery.Get<float>("obs");
    const auto weight = delivery.Get<float>("weight");
    Take(obs.Size(0) * obs.Size(1));
    if (options_.held_out_any && (*obs.At(0) != acted_[0] || *obs.At(obs.Size(0) - 1) != acted_[1] - 1))
      throw bp::Error(BP_E_INVALID_ARG, "the held-out loss is asked for other items than those just acted for");
    double loss = 0;
    for (int64_t i = 0; i < obs.Size(0); ++i) loss += *weight.At(i) * *obs.At(i);
    return loss;
  }
  bp_device_use DeviceUse() const { return {0, 0, 1000, options_.tells_use ? peak_ : 0, 1000}; }
  void ResetPeak() { peak_ = 1000; }
  void Act(const bp_act& act) override {
    acted_[0] = static_cast<float>(act.begin), acted_[1] = static_cast<float>(act.end);
    const double action = options_.evaluation_rows > 0 ? static_cast<double>(act.end - act.begin) : sum_;
    for (uint64_t r = act.begin; r < act.end; ++r) static_cast<float*>(act.out[0]->data)[r] = static_cast<float>(action);
  }
  void Save(const bp::Writer& out) const { out.Put(sum_), out.Put(updates_); }
  void Load(const bp::Reader& in) { sum_ = in.Get<double>(), updates_ = in.Get<int64_t>(); }

  double sum() const { return sum_; }
  std::vector<Seen>& seen() { return seen_; }

 private:
  void Take(int64_t numbers) {
    const uint64_t bytes = 1000 + 10 * static_cast<uint64_t>(numbers);
    if (device_bytes_ > 0 && bytes > device_bytes_) {
      partial_ = 0;
      throw bp::Error(BP_E_OOM_DEVICE, "needs " + std::to_string(bytes) + " bytes of " + std::to_string(device_bytes_));
    }
    peak_ = std::max(peak_, bytes);
  }

  const Options options_;
  uint64_t device_bytes_ = 0, peak_ = 1000;
  int64_t updates_ = 0;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
  double sum_ = 0, partial_ = 0;
  float acted_[2] = {};  // rows of the last call
  std::vector<Seen> seen_;
};

}  // namespace backplane
