// Delivers a finished rollout to the learner: the kept channels in place, and the chunks' results in the order (t, row).
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

// The tensors of a delivery by name, in the order of Give.
class DeliveryTensors {
 public:
  void Clear();
  // Name and tensor must stay valid.
  void Give(const char* name, bp_tensor* tensor);
  // "obs_count", "obs_mean" and "obs_m2", which point into `moments`.
  void GiveMoments(Moments& moments);
  // Everything since Clear as one delivery; valid until the next Clear or Give.
  bp_delivery Make(uint32_t kind) const;

 private:
  std::vector<const char*> names_;
  std::vector<bp_tensor*> tensors_;
  Tensor count_, mean_, m2_;
};

class RolloutDelivery {
 public:
  // Sorts the chunks' results, so that they do not depend on the threads.
  void Merge(const std::vector<Chunk>& chunks, const RolloutBuffers& buffers, bool moments);
  const std::vector<Episode>& episodes() const { return episodes_; }  // ended in the rollout, by (t, row)
  // Valid until the next Merge, Make or Bind. A LearnerInstance keeps only channels with a writer.
  bp_delivery Make(RolloutBuffers& buffers, const LearnerInstance& learner, uint64_t rows);

 private:
  struct Place {
    const Chunk* chunk;
    uint64_t index;
  };
  // Rows at the ends of episodes, gathered.
  struct Finals {
    EnvMemory::Bytes data;
    uint64_t capacity = 0;  // bytes
    Tensor tensor;
  };

  // Names the tensors after the buffers were bound. Later deliveries only change their addresses and sizes.
  void Arrange(RolloutBuffers& buffers, const LearnerInstance& learner);
  void MakeRoom(const EnvMemory& memory, const ChannelBuffer& like, uint64_t lead, Finals* out);
  // Gathers the rows that the chunks have kept, of RolloutBuffers::observed[i].
  void Gather(uint64_t bytes, size_t i, Finals* out);
  // Gathers from `dense` [T, N, ...], which an env that resets itself has written.
  void GatherDense(const EnvMemory& memory, const ChannelBuffer& dense, uint64_t lead, Finals* out);

  std::vector<Episode> episodes_;
  std::vector<Place> places_;     // [episodes]
  std::vector<uint64_t> starts_;  // [T + 1] episodes that ended before step t
  Moments moments_;
  bool has_moments_ = false;
  std::deque<Finals> finals_;         // per RolloutBuffers::observed
  std::vector<int64_t> final_index_;  // t * rows + row
  std::vector<int64_t> ended_;        // scratch: rows of one step
  Tensor final_index_tensor_;
  DeliveryTensors given_;
  uint64_t arranged_for_ = 0;  // RolloutBuffers::bindings; 0: not yet
};

}  // namespace backplane
