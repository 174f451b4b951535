// Serves DATA requests: where in which epoch the trial is, and groups in micro-batches that fit the learner's device.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "data/group.hpp"
#include "record/data_position.hpp"

namespace backplane {

struct HeldOut {
  double loss;  // summed over the items, by their weight
  uint64_t items;
};

// Bytes of the learner's device while it worked on a group.
struct GroupMemory {
  double live_bytes = 0;  // mean of what there was after each micro-batch
  double peak_bytes = 0, reserved_bytes = 0;
};

struct DataLoaderOptions {
  uint64_t seed;          // of the trial
  uint64_t device_bytes;  // what the learner may take; 0: no limit known
  bool shrink;            // a group that does not fit comes again in smaller micro-batches
};

class DataLoader {
 public:
  // `stop_requested` is called before each micro-batch; true: stop here.
  DataLoader(EnvInstance& env, LearnerInstance& learner, DataLoaderOptions options, std::function<bool()> stop_requested);

  // Whether the data can serve it, and how many items the learner works on at once, which may take tries. Throws TrialFailure.
  void Prepare(const bp_request& request);
  // Gives the learner one group; false: stopped on request, and nothing was learned. `iteration` is for the record, `read` is
  // called once the group has been read. Throws TrialFailure.
  bool DeliverGroup(const bp_request& request, uint64_t iteration, uint64_t env_steps, const std::function<void()>& read);
  // Whether the learner tells its loss on data it does not learn from.
  bool HasHeldOutLoss() const;
  // The first `n` items of a data set that is not learned from; absent where the learner or the env does not offer that.
  std::optional<HeldOut> HeldOutLoss(EnvInstance& env, uint64_t n);

  uint64_t items() const { return items_; }  // of an epoch
  double epochs() const { return static_cast<double>(epoch_) + static_cast<double>(item_) / static_cast<double>(items_); }
  const ItemGroup& group() const { return group_; }                // the last one
  uint64_t group_items() const { return group_.items(); }          // its items
  uint64_t micro_batch() const { return micro_batch_; }            // of the last group
  const GroupMemory& device() const { return device_; }            // of the last group; zeros where the learner does not tell
  uint64_t micro_batch_max() const { return micro_batch_max_; }    // UINT64_MAX: none known
  const std::vector<Shrink>& shrinks() const { return shrinks_; }  // of the trial, in the order of their iterations

  // Where it is and what it learned of the device, for a checkpoint.
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
