// One iteration's samples, those of agents that lived, and the order in which minibatches take them. Observations and states
// are kept by the Model, which knows on which device they are wanted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "on_policy/clipped_loss.hpp"
#include "on_policy/shuffle.hpp"
#include "streams.hpp"

namespace backplane::mappo {

// Ordered by step, row, agent.
struct Samples {
  int64_t n = 0;
  std::vector<int64_t> place;         // [n] of Streams
  std::vector<int32_t> step_of;       // [n] into env_step
  std::vector<int64_t> env_step;      // t * rows + row of those env steps that have a sample
  std::vector<int32_t> choice;        // [n]
  std::vector<uint8_t> mask;          // [n, actions]; empty: all allowed
  std::vector<float> logp;            // [n] when acting
  std::vector<float> advantage, ret;  // [n]
  std::vector<float> value;           // [n] as the critic predicted it before the update
};

// Some of the samples, with advantages and targets in the units of the loss.
struct Minibatch {
  const Samples& samples;
  std::span<const int32_t> index;
  Scaling advantage, target;
  int64_t n() const { return static_cast<int64_t>(index.size()); }
};

// Memory is kept from one iteration to the next.
class Batch {
 public:
  explicit Batch(const EnvShape& shape);

  // Copies what was done; advantages, returns and values are left to be filled in.
  void Take(const bp::Delivery& delivery, const Streams& streams);
  // A new order of the samples, a function of `key`: env steps are shuffled, the agents of each stay together, so that the
  // state's part of the critic is worked out once for all of them.
  void Shuffle(uint64_t key, const Parallel& parallel);
  // Samples [begin, end) of that order.
  std::span<const int32_t> Order(int64_t begin, int64_t end) const { return std::span(order_).subspan(begin, end - begin); }

  Samples& samples() { return all_; }
  const Samples& samples() const { return all_; }

 private:
  std::string action_name_, mask_name_;
  int64_t agents_, actions_;
  Samples all_;
  std::vector<int32_t> step_starts_, steps_, order_;
  Shuffler shuffler_;
};

}  // namespace backplane::mappo
