// Chooses the actions of agents with the same channels. Runners call it concurrently on disjoint rows; weights change only
// between calls. It reads observations, masks and ALIVE, but not the state.
#pragma once

#include <cstdint>

#include "block.hpp"
#include "options.hpp"

namespace backplane::mappo {

// Outputs of `act` behind the actions, in this order; kRawAction only if there are numbers. The memory, if there is one, is the
// last.
enum Output { kLogp, kRawAction };

class Actor {
 public:
  Actor(const Net& net, const EnvShape& shape);

  // Uses changed parameters [net.size], which must stay valid until the next call. [control]
  void Refresh(const float* params);
  // One pass for all living agents of the range; action and logp of the others are 0. [rows]
  void Act(const bp_act& act) const;

 private:
  struct Buffers;
  void Rest(const bp_act& act, int64_t agent) const;  // of an agent that does not live
  void Choose(const bp_act& act, Buffers* buffers) const;
  void Draw(const bp_act& act, int64_t agent, const float* head, Buffers* buffers) const;
  // An agent's memory before an act, and after it.
  bp::View<const float> MemoryBefore(const bp_act& act) const {
    return bp::View<const float>(act.in[obs_.size() + masked_ + mortal_], "memory");
  }
  bp::View<float> MemoryAfter(const bp_act& act) const {
    return bp::View<float>(Out(act, net_.log_stds() > 0 ? kRawAction + 1 : kRawAction), "memory");
  }
  const bp_tensor* Out(const bp_act& act, int output) const { return act.out[actions_.size() + static_cast<size_t>(output)]; }

  Net net_;
  std::vector<Seen> obs_;
  std::vector<ActionChannel> actions_;
  std::vector<float> low_, high_;
  bool masked_, mortal_;
  EnvShape shape_;
  int64_t agents_;
  const float* params_ = nullptr;
  PackedNet weights_;
  std::vector<double> std_;  // exp(log_std)
};

}  // namespace backplane::mappo
