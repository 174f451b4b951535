// What an env declares (EnvSpec) and what the host binds for it (Slot). Part of env.hpp, which authors include.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backplane/env.h"
#include "backplane/plugin.hpp"

namespace bp {

inline constexpr bp_dtype kF32{BP_DTYPE_FLOAT, 32, 1}, kF64{BP_DTYPE_FLOAT, 64, 1};
inline constexpr bp_dtype kI32{BP_DTYPE_INT, 32, 1}, kU8{BP_DTYPE_UINT, 8, 1};

// One channel; see channel.h for the meaning of the fields. `shape` is without the row dimension; empty: one number per row.
struct Channel {
  uint16_t role = 0;
  std::string name;
  std::vector<int64_t> shape = {};
  bp_dtype dtype = kF32;
  uint16_t space = BP_SPACE_BOX, scope = BP_SCOPE_ROW;
  std::vector<double> low = {}, high = {};  // empty, one for all elements, or one per element
  std::vector<int64_t> nvec = {};
};

inline bool IsStateRole(uint16_t role) {
  return role == BP_ROLE_OBS || role == BP_ROLE_STATE || role == BP_ROLE_ACTION_MASK || role == BP_ROLE_ALIVE ||
         role == BP_ROLE_LENGTH;
}

// The channels of an env in the order of the calls, its time limit, its number of agents and the device they lie on.
class EnvSpec {
 public:
  // OBS float32 [n], unbounded.
  EnvSpec& Obs(int64_t n) { return Add({.role = BP_ROLE_OBS, .name = "obs", .shape = {n}}); }
  // OBS float32 [low.size()] with one bound per element.
  EnvSpec& Obs(std::vector<double> low, std::vector<double> high) {
    const auto n = static_cast<int64_t>(low.size());
    return Add({.role = BP_ROLE_OBS, .name = "obs", .shape = {n}, .low = std::move(low), .high = std::move(high)});
  }
  // ACTION float32 [n] in [low, high].
  EnvSpec& ActionBox(int64_t n, double low, double high) {
    return Add({.role = BP_ROLE_ACTION, .name = "action", .shape = {n}, .low = {low}, .high = {high}});
  }
  // ACTION int32, one of 0 .. n-1.
  EnvSpec& ActionDiscrete(int64_t n) {
    return Add({.role = BP_ROLE_ACTION, .name = "action", .dtype = kI32, .space = BP_SPACE_DISCRETE, .nvec = {n}});
  }
  EnvSpec& Reward() { return Add({.role = BP_ROLE_REWARD, .name = "reward"}); }
  EnvSpec& Terminated() { return Add({.role = BP_ROLE_TERMINATED, .name = "terminated", .dtype = kU8}); }
  // INFO float32, one number per row. Named "ep/...": the value at the end of an episode counts.
  EnvSpec& Info(const std::string& name) { return Add({.role = BP_ROLE_INFO, .name = name}); }
  EnvSpec& Add(Channel channel) {
    channels.push_back(std::move(channel));
    return *this;
  }
  EnvSpec& MaxEpisodeSteps(int64_t steps) {  // 0: no limit
    max_episode_steps = steps;
    return *this;
  }
  EnvSpec& MaxAgents(uint32_t agents) {
    max_agents = agents;
    return *this;
  }
  // Where the buffers of all channels lie; for another device than the CPU see ext/memory.h.
  EnvSpec& Device(bp_device where) {
    device = where;
    return *this;
  }
  // Index of the first channel of a role, or -1.
  int Find(uint16_t role) const {
    for (size_t i = 0; i < channels.size(); ++i)
      if (channels[i].role == role) return static_cast<int>(i);
    return -1;
  }

  std::vector<Channel> channels;
  int64_t max_episode_steps = 0;
  uint32_t max_agents = 1;
  bp_device device = {BP_DEVICE_CPU, 0};
};

// An EnvSpec as the C table the host reads. Stays where it is built: the table points into it.
class SpecTable {
 public:
  explicit SpecTable(EnvSpec from) : spec(std::move(from)) {
    for (const Channel& c : spec.channels) {
      bp_channel out{};
      out.struct_size = sizeof out;
      out.role = c.role, out.space = c.space, out.scope = c.scope, out.dtype = c.dtype;
      out.ndim = static_cast<uint16_t>(c.shape.size());
      out.name = c.name.c_str();
      out.shape = c.shape.empty() ? nullptr : c.shape.data();
      out.low = c.low.empty() ? nullptr : c.low.data();
      out.high = c.high.empty() ? nullptr : c.high.data();
      out.nvec = c.nvec.empty() ? nullptr : c.nvec.data();
      out.n_bounds = c.low.size();
      table_.push_back(out);
    }
    view = {sizeof view, spec.max_agents, table_.data(), table_.size(), spec.max_episode_steps, spec.device};
  }
  SpecTable(const SpecTable&) = delete;
  SpecTable& operator=(const SpecTable&) = delete;

  const EnvSpec spec;
  bp_env_spec view{};

 private:
  std::vector<bp_channel> table_;
};

// One channel in one slot. `data` is NULL where the slot has no such entry; a row spans all its agents.
struct ChannelView {
  char* data = nullptr;
  uint64_t row_stride_bytes = 0, row_bytes = 0;
  uint32_t bits = 0;
};

// The rows of one channel in one time slot. A loop over rows takes it once, before: what a row writes might alias the table of
// views, so that a compiler would read the table again for every row.
template <class T>
class RowsOf {
 public:
  RowsOf() = default;
  explicit RowsOf(const ChannelView& view) : data_(view.data), stride_bytes_(view.row_stride_bytes) {
    assert(view.data && view.bits == 8 * sizeof(T));
  }
  // First element of row `row` (of its agent 0).
  T* operator[](uint64_t row) const { return reinterpret_cast<T*>(data_ + row * stride_bytes_); }

 private:
  char* data_;
  uint64_t stride_bytes_;
};

// The bound buffers of one time slot, by channel in the order of EnvSpec. Owned by the instance; valid until the next bind.
class Slot {
 public:
  Slot(const ChannelView* views, uint32_t index) : views_(views), index_(index) {}
  // First element of row `row` (of its agent 0); the row's elements are contiguous, agent after agent.
  template <class T>
  T* Row(int channel, uint64_t row) const {
    return Rows<T>(channel)[row];
  }
  template <class T>
  RowsOf<T> Rows(int channel) const {
    return RowsOf<T>(views_[channel]);
  }
  // False where this slot has no such channel: transition roles in the last slot of a rollout, INFO that nobody wants.
  bool Has(int channel) const { return views_[channel].data != nullptr; }
  uint32_t index() const { return index_; }

 private:
  const ChannelView* views_;
  uint32_t index_;
};

namespace detail {

inline std::string Text(const int64_t* values, int64_t n) {
  std::string out = "[";
  for (int64_t i = 0; i < n; ++i) out += (i ? ", " : "") + std::to_string(values[i]);
  return out + "]";
}

// Compares a tensor with its channel, once per bind, so that the loops need no checks.
inline ChannelView CheckedView(const EnvSpec& spec, const Channel& channel, const bp_tensor& tensor, uint64_t rows,
                               uint32_t slot) {
  const auto wrong = [&](const std::string& what, const std::string& wanted, const std::string& got) {
    return Error(BP_E_INVALID_ARG, "slot " + std::to_string(slot) + ", channel '" + channel.name + "': " + what +
                                       " should be " + wanted + ", got " + got);
  };
  const uint64_t per_row = channel.scope == BP_SCOPE_AGENT ? spec.max_agents : 1;
  std::vector<int64_t> shape{static_cast<int64_t>(rows * per_row)};
  shape.insert(shape.end(), channel.shape.begin(), channel.shape.end());
  const auto ndim = static_cast<int32_t>(shape.size());
  if (tensor.ndim != ndim || !std::equal(shape.begin(), shape.end(), tensor.shape))
    throw wrong("shape", Text(shape.data(), ndim), Text(tensor.shape, tensor.ndim));
  if (tensor.dtype.code != channel.dtype.code || tensor.dtype.bits != channel.dtype.bits || tensor.dtype.lanes != 1)
    throw wrong("dtype (code, bits)", Text(std::vector<int64_t>{channel.dtype.code, channel.dtype.bits}.data(), 2),
                Text(std::vector<int64_t>{tensor.dtype.code, tensor.dtype.bits}.data(), 2));
  if (tensor.device.type != spec.device.type)
    throw wrong("device type", std::to_string(spec.device.type), std::to_string(tensor.device.type));
  int64_t elements = 1;
  for (int32_t i = ndim - 1; i >= 1; elements *= shape[i--])
    if (tensor.strides[i] != elements && shape[i] > 1)
      throw wrong("stride " + std::to_string(i), std::to_string(elements), std::to_string(tensor.strides[i]));
  if (per_row > 1 && tensor.strides[0] != elements)
    throw wrong("stride 0 (agents of a row are contiguous)", std::to_string(elements), std::to_string(tensor.strides[0]));
  const uint64_t bytes = channel.dtype.bits / 8;
  return {static_cast<char*>(tensor.data) + tensor.byte_offset, tensor.strides[0] * per_row * bytes, elements * per_row * bytes,
          channel.dtype.bits};
}

// The views of all slots, [n_frames x n_channels]. Frames are walked by the struct_size of the first one.
inline std::vector<ChannelView> CheckedViews(const EnvSpec& spec, uint64_t rows, const bp_frame* frames, uint64_t n_frames) {
  const size_t n = spec.channels.size();
  std::vector<ChannelView> views(n_frames * n);
  for (uint64_t i = 0; i < n_frames; ++i) {
    const auto& frame = *reinterpret_cast<const bp_frame*>(reinterpret_cast<const char*>(frames) + i * frames->struct_size);
    if (frame.slot >= n_frames)
      throw Error(BP_E_INVALID_ARG, "slot " + std::to_string(frame.slot) + " is beyond the frames given");
    const bool starts_rollout = n_frames > 1 && frame.slot + 1 == n_frames;
    for (size_t c = 0; c < n; ++c) {
      const Channel& channel = spec.channels[c];
      const bool optional = channel.role == BP_ROLE_INFO || (starts_rollout && !IsStateRole(channel.role));
      if (frame.tensors[c])
        views[frame.slot * n + c] = CheckedView(spec, channel, *frame.tensors[c], rows, frame.slot);
      else if (!optional)
        throw Error(BP_E_INVALID_ARG, "slot " + std::to_string(frame.slot) + ", channel '" + channel.name + "' has no buffer");
    }
  }
  return views;
}

// The views of n items; empty for channels that are no part of an item.
inline std::vector<ChannelView> ItemViews(const EnvSpec& spec, uint64_t n, const bp_frame& frame) {
  std::vector<ChannelView> views(spec.channels.size());
  for (size_t c = 0; c < views.size(); ++c)
    if (frame.tensors[c]) views[c] = CheckedView(spec, spec.channels[c], *frame.tensors[c], n, frame.slot);
  return views;
}

}  // namespace detail
}  // namespace bp
