// The declaration of a learner (LearnerSpec). Part of learner.hpp, which authors include.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "backplane/channels.hpp"
#include "backplane/learner.h"
#include "backplane/plugin.hpp"

namespace bp {

// Owns everything a bp_learner_spec points to. Add first, then read raw(): the addresses are stable from then on.
class LearnerSpec {
 public:
  void ActIn(const std::string& name) { AddName(&act_in_, name); }
  void Keep(const std::string& name) { AddName(&keep_, name); }
  // Output of `act` with the shape and bounds of an env's channel; copied, because the env's spec may be destroyed earlier.
  void ActOut(const bp_channel& like) {
    bp_channel channel{};
    std::memcpy(&channel, &like, std::min<size_t>(sizeof channel, like.struct_size));  // of an older host
    channel.struct_size = sizeof channel;
    channel.name = names_.emplace_back(like.name).c_str();
    channel.shape = Copy(&ints_, like.shape, like.ndim);
    channel.low = Copy(&doubles_, like.low, like.n_bounds);
    channel.high = Copy(&doubles_, like.high, like.n_bounds);
    if (like.nvec) channel.nvec = Copy(&ints_, like.nvec, like.space == BP_SPACE_MULTI_DISCRETE ? ElementCount(like) : 1);
    act_out_.push_back(channel);
  }
  // Output of `act` that the env does not read, float32; also kept for the rollout. scope: BP_SCOPE_*. group: of the agents, 0
  // for all of them.
  void Extra(const char* name, const std::vector<int64_t>& shape = {}, uint16_t scope = BP_SCOPE_ROW, uint32_t group = 0) {
    Output(BP_ROLE_EXTRA, name, shape, scope, group);
  }
  // A memory of the learner's own, float32, that `act` reads and writes; also kept for the rollout. Needs a host of version 1.1
  // (BP_PLUGINS_SINCE). scope and group as above.
  void Carry(const char* name, const std::vector<int64_t>& shape, uint16_t scope = BP_SCOPE_ROW, uint32_t group = 0) {
    ActIn(name);
    Output(BP_ROLE_CARRY, name, shape, scope, group);
  }
  void set_params(uint64_t n) { raw_.n_params = n; }
  void set_flags(uint64_t flags) { raw_.flags = flags; }
  void set_evaluation_rows(uint32_t rows) { raw_.evaluation_rows = rows; }

  const bp_learner_spec* raw() const {
    raw_.struct_size = sizeof raw_;
    raw_.act_in = act_in_.data();
    raw_.keep = keep_.data();
    raw_.act_out = act_out_.data();
    raw_.n_act_out = act_out_.size();
    return &raw_;
  }

 private:
  void Output(uint16_t role, const char* name, const std::vector<int64_t>& shape, uint16_t scope, uint32_t group) {
    bp_channel channel{};
    channel.struct_size = sizeof channel;
    channel.role = role, channel.space = BP_SPACE_BOX, channel.scope = scope, channel.group = group;
    channel.ndim = static_cast<uint16_t>(shape.size());
    channel.dtype = DtypeOf<float>();
    channel.name = name;
    channel.shape = shape.data();
    ActOut(channel);
    Keep(name);
  }
  void AddName(std::vector<const char*>* list, const std::string& name) {
    list->back() = names_.emplace_back(name).c_str();
    list->push_back(nullptr);
  }
  template <class T>
  static const T* Copy(std::deque<std::vector<T>>* store, const T* values, uint64_t n) {
    return values && n > 0 ? store->emplace_back(values, values + n).data() : nullptr;
  }

  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::vector<const char*> act_in_{nullptr}, keep_{nullptr};
  std::vector<bp_channel> act_out_;
  mutable bp_learner_spec raw_{};
};

}  // namespace bp
