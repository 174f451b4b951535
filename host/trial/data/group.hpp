// A group of items of a data set: one read, handed out in micro-batches.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "backplane/ext/source.h"
#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane {

// NULL: the env is no data set.
const bp_env_source_1* SourceOf(const EnvInstance& env);
// Items per epoch of an env that is a data set. Throws TrialFailure if there are none, or more than kMaxItems.
inline constexpr uint64_t kMaxItems = uint64_t{1} << 53;
uint64_t ItemsOf(EnvInstance& env);

class ItemGroup {
 public:
  // The env must be a data set. Throws TrialFailure if a LENGTH channel names no channel of an item, a LENGTH is not one int32
  // per row, or a WEIGHT is not one float32 per row.
  explicit ItemGroup(EnvInstance& env);
  ItemGroup(const ItemGroup&) = delete;

  // Reads items [first, first + n) of the epoch whose order is keyed by `seed`. `sort` puts the longest first, by the LENGTH
  // channels in the order of the spec; equal ones keep their order. [control]
  void Read(uint64_t seed, uint64_t first, uint64_t n, bool sort);
  // Reads the first n items at their maximum length, the largest cost of a micro-batch.
  void ReadLongest(uint64_t n);
  uint64_t items() const { return items_; }
  double weight() const { return weight_; }  // sum of WEIGHT

  // Calls see(channel, data, bytes) for each item of each channel, without padding beyond its length.
  void ForEachItem(const std::function<void(const bp_channel&, const std::byte*, uint64_t)>& see) const;

  // The group as micro-batches of at most `micro_batch` items. Valid until the next call of any function here.
  const std::vector<bp_delivery>& Cut(uint64_t micro_batch);

 private:
  // Rows between guards.
  class GuardedRows {
   public:
    static constexpr uint64_t kGuard = 64;
    GuardedRows() = default;
    explicit GuardedRows(uint64_t bytes) : block_(AllocateAligned(bytes + 2 * kGuard)) {}
    std::byte* get() const { return block_.get() + kGuard; }

   private:
    AlignedBytes block_;
  };
  struct Part {  // a channel of an item
    const bp_channel* channel;
    int length = -1;  // the part with the valid length of each row, or -1
    uint64_t row_bytes;
    GuardedRows bytes, sorted;
    Tensor all;  // [items, ...], written by the env
  };

  void Allocate(uint64_t n);
  void SetGuards();
  void CheckGuards() const;
  void ReadInto(uint64_t seed, uint64_t first, uint64_t n);
  int32_t LengthOf(const Part& length, uint64_t item) const;
  int64_t Capacity(const Part& part) const { return part.channel->ndim == 0 ? 1 : part.channel->shape[0]; }
  void SortRows();
  void SumWeights();
  Tensor& MakeView(Part& part, uint64_t begin, uint64_t end);

  EnvInstance& env_;
  const bp_env_source_1* source_;
  std::deque<Part> parts_;
  std::vector<const char*> names_;
  uint64_t items_ = 0, capacity_ = 0;
  double weight_ = 0;
  std::deque<Tensor> views_;
  std::deque<std::vector<bp_tensor*>> view_lists_;  // [micro-batch][part]
  std::vector<bp_delivery> deliveries_;
};

}  // namespace backplane
