// What an env declares, as a learner reads it, and what the learner declares (LearnerSpec). Part of learner.hpp, which authors
// include.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backplane/learner.h"
#include "backplane/plugin.hpp"

namespace bp {

// The channels of an env's spec, one after the other: function(const bp_channel&).
template <class Function>
void ForEachChannel(const bp_env_spec* env, Function&& function) {
  for (uint64_t i = 0; i < env->n_channels; ++i) {
    // Walked by the writer's struct_size, which may be larger than ours.
    const auto* at = reinterpret_cast<const char*>(env->channels) + i * env->channels->struct_size;
    function(*reinterpret_cast<const bp_channel*>(at));
  }
}

// The only channel of a role in an env's spec; NULL if there is none, an error if there are several.
inline const bp_channel* FindChannel(const bp_env_spec* env, uint16_t role, const char* role_name) {
  const bp_channel* found = nullptr;
  ForEachChannel(env, [&](const bp_channel& channel) {
    if (channel.role != role) return;
    if (found) {
      throw Unsupported(std::string("needs one ") + role_name + " channel, the env has '" + found->name + "' and '" +
                        channel.name + "'");
    }
    found = &channel;
  });
  return found;
}

// The INFO channel of a name, of which an env may have any number; NULL if there is none.
inline const bp_channel* FindInfo(const bp_env_spec* env, std::string_view name) {
  const bp_channel* found = nullptr;
  ForEachChannel(env, [&](const bp_channel& channel) {
    if (channel.role == BP_ROLE_INFO && name == channel.name) found = &channel;
  });
  return found;
}

inline int64_t ElementCount(const bp_channel& channel) {
  int64_t n = 1;
  for (int i = 0; i < channel.ndim; ++i) n *= channel.shape[i];
  return n;
}

template <class T>
constexpr bp_dtype DtypeOf() {
  constexpr uint8_t code = std::is_floating_point_v<T> ? BP_DTYPE_FLOAT : std::is_signed_v<T> ? BP_DTYPE_INT : BP_DTYPE_UINT;
  return {code, sizeof(T) * 8, 1};
}
constexpr bool SameDtype(bp_dtype a, bp_dtype b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

// Owns everything a bp_learner_spec points to. Add first, then read raw(): the addresses then stay until the end.
class LearnerSpec {
 public:
  void ActIn(const std::string& name) { AddName(&act_in_, name); }
  void Keep(const std::string& name) { AddName(&keep_, name); }
  // Output of `act` with the shape and bounds of an env's channel; copied, since the env's spec may go first.
  void ActOut(const bp_channel& like) {
    bp_channel channel = like;
    channel.struct_size = sizeof channel;
    channel.name = names_.emplace_back(like.name).c_str();
    channel.shape = Copy(&ints_, like.shape, like.ndim);
    channel.low = Copy(&doubles_, like.low, like.n_bounds);
    channel.high = Copy(&doubles_, like.high, like.n_bounds);
    if (like.nvec) channel.nvec = Copy(&ints_, like.nvec, like.space == BP_SPACE_MULTI_DISCRETE ? ElementCount(like) : 1);
    act_out_.push_back(channel);
  }
  // Output of `act` that the env does not see, float32; also kept for the rollout. scope: BP_SCOPE_*.
  void Extra(const char* name, const std::vector<int64_t>& shape = {}, uint16_t scope = BP_SCOPE_ROW) {
    bp_channel channel{};
    channel.role = BP_ROLE_EXTRA, channel.space = BP_SPACE_BOX, channel.scope = scope;
    channel.ndim = static_cast<uint16_t>(shape.size());
    channel.dtype = DtypeOf<float>();
    channel.name = name;
    channel.shape = shape.data();
    ActOut(channel);
    Keep(name);
  }
  void set_params(uint64_t n) { raw_.n_params = n; }
  void set_flags(uint64_t flags) { raw_.flags = flags; }

  const bp_learner_spec* raw() const {
    raw_.struct_size = sizeof raw_;
    raw_.act_in = act_in_.data();
    raw_.keep = keep_.data();
    raw_.act_out = act_out_.data();
    raw_.n_act_out = act_out_.size();
    return &raw_;
  }

 private:
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
