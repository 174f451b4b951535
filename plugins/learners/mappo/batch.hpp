// The samples of an iteration, for living agents only, and their order in minibatches. The Model keeps observations and states,
// because it knows their device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "on_policy/clipped_loss.hpp"
#include "on_policy/sequences.hpp"
#include "on_policy/shuffle.hpp"
#include "streams.hpp"

namespace backplane::mappo {

// Ordered by step, row, agent.
struct Samples {
  int64_t n = 0;
  std::vector<int64_t> place;         // [n] in Streams
  std::vector<int32_t> step_of;       // [n] into env_step
  std::vector<int64_t> env_step;      // t * rows + row of all env steps with a sample
  std::vector<float> numbers;         // [n, numbers] of the action, unclipped
  std::vector<int64_t> choice;        // [n, choices] of the action
  std::vector<uint8_t> mask;          // [n, flags] of its choices; empty: all allowed
  std::vector<float> logp;            // [n] from acting
  std::vector<float> advantage, ret;  // [n]
  std::vector<float> value;           // [n] predicted by the critic before the update
};

// Some of the samples, with advantages and targets in the units of the loss.
struct Minibatch {
  const Samples& samples;
  std::span<const int32_t> index;
  Scaling advantage, target;
  // For an actor with a memory: the samples' sequences, in the order of `index`, and the states before each, [sequences, size].
  const SequenceBlocks* blocks = nullptr;
  const float* carry = nullptr;
  int64_t n() const { return static_cast<int64_t>(index.size()); }
};

// Reuses its memory for all iterations.
class Batch {
 public:
  explicit Batch(const EnvShape& shape, const MemoryOptions& memory = {});

  // Copies actions and masks; the caller fills in advantages, returns and values.
  void Take(const bp::Delivery& delivery, const Streams& streams);
  // Reorders the samples, determined by `key`: shuffles env steps and keeps the agents of each together, so that the critic
  // processes their state once. With a memory, it shuffles sequences of env steps instead.
  void Shuffle(uint64_t key, const Parallel& parallel);
  // Samples [begin, end) in that order.
  std::span<const int32_t> Order(int64_t begin, int64_t end) const { return std::span(order_).subspan(begin, end - begin); }
  int64_t ordered() const { return memory_.size > 0 ? sequences_.n() : all_.n; }
  // A minibatch of the samples, or sequences, [begin, end) in that order; valid until the next order, or the next call.
  Minibatch Select(int64_t begin, int64_t end);

  Samples& samples() { return all_; }
  const Samples& samples() const { return all_; }

 private:
  void TakeSequences(const bp::Delivery& delivery, const Streams& streams);

  void TakeActions(const bp::Delivery& delivery, int64_t agents);

  std::vector<ActionChannel> actions_;
  Distributions action_;
  std::string mask_name_, logp_name_, raw_name_, memory_name_;
  int64_t agents_;
  MemoryOptions memory_;
  Samples all_;
  // The first sample of each env step, or the first sequence of each run of env steps; their order.
  std::vector<int32_t> step_starts_, steps_, order_;
  SequenceSet sequences_;
  SequenceBlocks blocks_;             // of a minibatch
  std::vector<int64_t> numbers_;      // of its sequences
  std::vector<int32_t> index_;        // of its samples
  std::vector<float> first_carries_;  // [sequences, size]
  Shuffler shuffler_;
};

}  // namespace backplane::mappo
