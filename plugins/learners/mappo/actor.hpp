// Choosing actions: runners call it at the same time on disjoint rows, with weights that change only between calls. It reads
// observations, masks and ALIVE, never the state.
#pragma once

#include <cstdint>

#include "block.hpp"
#include "options.hpp"

namespace backplane::mappo {

class Actor {
 public:
  Actor(const Net& net, const EnvShape& shape);

  // Takes over changed parameters [net.size], which stay valid until the next call. [control]
  void Refresh(const float* params);
  // One pass for all agents of the range that are alive; action and logp of the others are 0. [rows]
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
