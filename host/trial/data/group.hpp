// A group of items of a data set, read at once and handed out in micro-batches.
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
// Of an epoch of an env that is one. Throws TrialFailure where there is none, or more than a data set can have.
inline constexpr uint64_t kMaxItems = uint64_t{1} << 53;
uint64_t ItemsOf(EnvInstance& env);

class ItemGroup {
 public:
  // Of an env that is a source. Throws TrialFailure where its LENGTH channels name no channel of an item, or a LENGTH is not
  // one int32 or a WEIGHT not one float32 of a row.
  explicit ItemGroup(EnvInstance& env);
  ItemGroup(const ItemGroup&) = delete;

  // Items [first, first + n) of the epoch whose order `seed` keys. With `sort` the longest come first: by the LENGTH channels
  // in the order of the spec; equals keep their order. [control]
  void Read(uint64_t seed, uint64_t first, uint64_t n, bool sort);
  // The first n items of the data, each as long as an item can be: what a micro-batch can cost at most.
  void ReadLongest(uint64_t n);
  uint64_t items() const { return items_; }
  double weight() const { return weight_; }  // sum of WEIGHT

  // Calls see(channel, data, bytes) for each item of each channel, as far as its length says that it counts.
  void ForEachItem(const std::function<void(const bp_channel&, const std::byte*, uint64_t)>& see) const;

  // The group as micro-batches of at most `micro_batch` items; valid until the next call of anything here.
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
    int length = -1;  // the part that says how much of each row counts, or -1
    uint64_t row_bytes;
    GuardedRows bytes, sorted;
    Tensor all;  // [items, ...], for the env to write
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
