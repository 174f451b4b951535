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
  // An agent's memory before an act, and after it.
  bp::View<const float> MemoryBefore(const bp_act& act) const {
    return bp::View<const float>(act.in[obs_.size() + masked_ + mortal_], "memory");
  }
  static bp::View<float> MemoryAfter(const bp_act& act) { return bp::View<float>(act.out[2], "memory"); }

  Net net_;
  std::vector<Seen> obs_;
  bool masked_, mortal_;
  int64_t agents_;
  const float* params_ = nullptr;
  PackedNet weights_;
};

}  // namespace backplane::mappo
