// A finished rollout as the learner gets it: the kept channels in place, and what the chunks left, in the order (t, row).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "backplane/learner.h"
#include "rollout/buffers.hpp"
#include "rollout/chunk_queue.hpp"
#include "rollout/moments.hpp"
#include "rollout/rollout_buffers.hpp"

namespace backplane {

// The tensors of a delivery by name, in the order in which they were given.
class DeliveryTensors {
 public:
  void Clear();
  // Name and tensor stay where they are.
  void Give(const char* name, bp_tensor* tensor);
  // "obs_count", "obs_mean" and "obs_m2", which point into `moments`.
  void GiveMoments(Moments& moments);
  // All that was given since Clear, as one delivery; valid until the next Clear or Give.
  bp_delivery Make(uint32_t kind) const;

 private:
  std::vector<const char*> names_;
  std::vector<bp_tensor*> tensors_;
  Tensor count_, mean_, m2_;
};

class RolloutDelivery {
 public:
  // Orders what the chunks left, so that the result does not depend on who ran them.
  void Merge(const std::vector<Chunk>& chunks, const RolloutBuffers& buffers, bool moments);
  const std::vector<Episode>& episodes() const { return episodes_; }  // ended in the rollout, by (t, row)
  // Valid until the next Merge, Make or Bind. A LearnerInstance keeps only channels that somebody writes.
  bp_delivery Make(RolloutBuffers& buffers, const LearnerInstance& learner, uint64_t rows);

 private:
  struct Place {
    const Chunk* chunk;
    uint64_t index;
  };
  // Rows kept at the ends of episodes, brought together.
  struct Finals {
    EnvMemory::Bytes data;
    uint64_t capacity = 0;  // bytes
    Tensor tensor;
  };

  void MakeRoom(const EnvMemory& memory, const ChannelBuffer& like, uint64_t lead, Finals* out);
  // From where the chunks have kept them, of RolloutBuffers::observed[i].
  void Gather(uint64_t bytes, size_t i, Finals* out);
  // From `dense` [T, N, ...], where an env that resets itself has written them.
  void GatherDense(const EnvMemory& memory, const ChannelBuffer& dense, uint64_t lead, Finals* out);

  std::vector<Episode> episodes_;
  std::vector<Place> places_;     // [episodes]
  std::vector<uint64_t> starts_;  // [T + 1] places taken before step t
  Moments moments_;
  bool has_moments_ = false;
  std::deque<Finals> finals_;         // of each RolloutBuffers::observed
  std::vector<int64_t> final_index_;  // t * rows + row
  std::vector<int64_t> ended_;        // scratch: rows of one step
  Tensor final_index_tensor_;
  DeliveryTensors given_;
};

}  // namespace backplane
