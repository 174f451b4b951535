// Serves DATA requests: tracks the position in the epochs and delivers groups in micro-batches that fit the learner's device.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "data/group.hpp"
#include "record/data_position.hpp"

namespace backplane {

struct HeldOut {
  double loss;  // weighted sum over the items
  uint64_t items;
};

// Memory use of the learner's device during a group.
struct GroupMemory {
  double live_bytes = 0;  // mean of the use after each micro-batch
  double peak_bytes = 0, reserved_bytes = 0;
};

struct DataLoaderOptions {
  uint64_t seed;          // the trial's seed
  uint64_t device_bytes;  // limit for the learner; 0: unknown
  bool shrink;            // retry a group that does not fit, in smaller micro-batches
};

class DataLoader {
 public:
  // `stop_requested` is called before each micro-batch; true stops the loader.
  DataLoader(EnvInstance& env, LearnerInstance& learner, DataLoaderOptions options, std::function<bool()> stop_requested);

  // Checks that the data can serve the request, and finds the micro-batch size, which may take several attempts. Throws
  // TrialFailure.
  void Prepare(const bp_request& request);
  // Gives the learner one group. False: stopped on request, without an update. `iteration` is for the record. Calls `read` once
  // the group is read. Throws TrialFailure.
  bool DeliverGroup(const bp_request& request, uint64_t iteration, uint64_t env_steps, const std::function<void()>& read);
  // True if the learner reports its loss on held-out data.
  bool HasHeldOutLoss() const;
  // The loss on the first `n` items of a held-out data set; absent if the learner or the env does not support that.
  std::optional<HeldOut> HeldOutLoss(EnvInstance& env, uint64_t n);

  uint64_t items() const { return items_; }  // per epoch
  double epochs() const { return static_cast<double>(epoch_) + static_cast<double>(item_) / static_cast<double>(items_); }
  const ItemGroup& group() const { return group_; }                // the last one
  uint64_t group_items() const { return group_.items(); }          // its size
  uint64_t micro_batch() const { return micro_batch_; }            // of the last group
  const GroupMemory& device() const { return device_; }            // of the last group; zeros if the learner does not report it
  uint64_t micro_batch_max() const { return micro_batch_max_; }    // UINT64_MAX: unknown
  const std::vector<Shrink>& shrinks() const { return shrinks_; }  // in the order of their iterations

  // Its position and the learned micro-batch limit, for a checkpoint.
  DataPosition Save() const { return {epoch_, item_, micro_batch_, micro_batch_max_, shrinks_}; }
  void Load(const DataPosition& saved);  // throws TrialFailure

 private:
  bool Deliver(uint64_t micro_batch, uint64_t env_steps);
  void ShrinkMicroBatch(uint64_t iteration, uint64_t micro_batch, const std::string& why);

  EnvInstance& env_;
  LearnerInstance& learner_;
  const DataLoaderOptions options_;
  const std::function<bool()> stop_requested_;
  ItemGroup group_;
  const uint64_t items_;
  uint64_t epoch_ = 0, item_ = 0;  // of the next group
  uint64_t micro_batch_ = 0, micro_batch_max_;
  GroupMemory device_;
  std::vector<Shrink> shrinks_;
};

}  // namespace backplane
