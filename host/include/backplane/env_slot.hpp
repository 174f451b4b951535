// The buffers that the host binds for an env (Slot). Part of env.hpp, which authors include.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backplane/env_spec.hpp"

namespace bp {

// One channel in one slot. `data` is NULL if the slot has no such entry; a row includes all its agents.
struct ChannelView {
  const Channel* channel = nullptr;
  uint64_t key = 0;  // of its handles
  char* data = nullptr;
  uint64_t row_stride_bytes = 0, row_elements = 0;
};

// The rows of one channel in one time slot. Create it once before a loop over rows: a row's output might alias the table of
// views, so a compiler would reload the table for every row.
template <class T>
class RowsOf {
 public:
  RowsOf() = default;  // assign it before use
  RowsOf(void* data, uint64_t stride_bytes, size_t elements) : data_(data), stride_bytes_(stride_bytes), elements_(elements) {}
  // All elements of row `row`, agent by agent.
  std::span<T> operator[](uint64_t row) const {
    return {reinterpret_cast<T*>(static_cast<char*>(data_) + row * stride_bytes_), elements_};
  }

 private:
  void* data_;
  uint64_t stride_bytes_;
  size_t elements_;
};

// The bound buffers of one time slot, by channel. Owned by the instance; valid until the next bind.
class Slot {
 public:
  Slot(const ChannelView* views, size_t n_views, uint32_t index) : views_(views), n_views_(n_views), index_(index) {}
  // All elements of row `row`, agent by agent.
  template <class T>
  std::span<T> Row(Handle<T> channel, uint64_t row) const {
    return Rows(channel)[row];
  }
  template <class T>
  RowsOf<T> Rows(Handle<T> channel) const {
    const ChannelView& view = Checked(channel.index_, channel.key_);
    if (view.data == nullptr) RefuseAbsent(view);
    return {view.data, view.row_stride_bytes, view.row_elements};
  }
  // False if this slot has no such channel: transition roles in the last slot of a rollout, or INFO that is not recorded.
  template <class T>
  bool Has(Handle<T> channel) const {
    return Checked(channel.index_, channel.key_).data != nullptr;
  }
  template <class T>
  const Channel& Of(Handle<T> channel) const {
    return *Checked(channel.index_, channel.key_).channel;
  }
  uint32_t index() const { return index_; }

 private:
  const ChannelView& Checked(size_t index, uint64_t key) const {
    if (index >= n_views_ || views_[index].key != key) [[unlikely]]
      RefuseHandle(index, key);
    return views_[index];
  }
  [[noreturn, gnu::cold, gnu::noinline]] void RefuseHandle(size_t index, uint64_t key) const {
    if (key == 0) throw Error(BP_E_INTERNAL, "the handle of a channel does not come from a spec");
    const std::string found = index < n_views_ ? "'" + views_[index].channel->name + "'" : "none";
    throw Error(BP_E_INTERNAL, "the handle of a channel comes from a different spec: channel " + std::to_string(index) +
                                   " of this one is " + found);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void RefuseAbsent(const ChannelView& view) const {
    throw Error(BP_E_INTERNAL, "channel '" + view.channel->name + "' has no buffer in slot " + std::to_string(index_) +
                                   ": check Has(...) first");
  }

  const ChannelView* views_;
  size_t n_views_;
  uint32_t index_;
};

namespace detail {

inline ChannelView AbsentView(const Channel& channel) { return {&channel, HandleKey(channel)}; }

// Compares a tensor with its channel once per bind, so that the loops need no checks.
inline ChannelView CheckedView(const EnvSpec& spec, const Channel& channel, const bp_tensor& tensor, uint64_t rows,
                               uint32_t slot) {
  const auto wrong = [&](const std::string& what, const std::string& expected, const std::string& got) {
    return Error(BP_E_INVALID_ARG, "slot " + std::to_string(slot) + ", channel '" + channel.name + "': expected " + what + " " +
                                       expected + ", got " + got);
  };
  const uint64_t per_row = spec.AgentsIn(channel);
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
  return {&channel, HandleKey(channel), static_cast<char*>(tensor.data) + tensor.byte_offset,
          tensor.strides[0] * per_row * channel.dtype.bits / 8, elements * per_row};
}

// The views of all slots, [n_frames x n_channels]. The stride of frames is the struct_size of the first one.
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
      ChannelView& view = views[frame.slot * n + c];
      if (frame.tensors[c])
        view = CheckedView(spec, channel, *frame.tensors[c], rows, frame.slot);
      else if (optional)
        view = AbsentView(channel);
      else
        throw Error(BP_E_INVALID_ARG, "slot " + std::to_string(frame.slot) + ", channel '" + channel.name + "' has no buffer");
    }
  }
  return views;
}

// The views of n items; without data for channels outside items.
inline std::vector<ChannelView> ItemViews(const EnvSpec& spec, uint64_t n, const bp_frame& frame) {
  std::vector<ChannelView> views(spec.channels.size());
  for (size_t c = 0; c < views.size(); ++c)
    views[c] =
        frame.tensors[c] ? CheckedView(spec, spec.channels[c], *frame.tensors[c], n, frame.slot) : AbsentView(spec.channels[c]);
  return views;
}

}  // namespace detail
}  // namespace bp
