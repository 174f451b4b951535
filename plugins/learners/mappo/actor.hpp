// Chooses actions. Runners call it concurrently on disjoint rows; weights change only between calls. It reads observations,
// masks and ALIVE, but not the state.
#pragma once

#include <cstdint>

#include "block.hpp"
#include "options.hpp"

namespace backplane::mappo {

class Actor {
 public:
  Actor(const Net& net, const EnvShape& shape);

  // Uses changed parameters [net.size], which must stay valid until the next call. [control]
  void Refresh(const float* params);
  // One pass for all living agents of the range; action and logp of the others are 0. [rows]
  void Act(const bp_act& act) const;

 private:
  struct Buffers;
  void Choose(const bp_act& act, Buffers* buffers) const;

  Net net_;
  std::vector<Seen> obs_;
  bool masked_, mortal_;
  int64_t agents_;
  const float* params_ = nullptr;
  PackedNet weights_;
};

}  // namespace backplane::mappo
