// The host's buffers: one per channel, allocated once per horizon, bound once, written in place by plugins.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/channel.h"
#include "base/float32.hpp"
#include "rollout/env_memory.hpp"

namespace backplane {

class LearnerInstance;

// Roles whose value belongs to a state, not to a transition. A rollout keeps T+1 of them.
bool IsStateRole(uint16_t role);

// A tensor with its own shape and strides. Its address is fixed, because plugins keep pointers to it.
struct Tensor {
  Tensor() = default;
  Tensor(const Tensor&) = delete;
  bp_tensor view{};
  std::vector<int64_t> shape, strides;
  // Points to `data` on `device`. The stride of dimension 0 is `lead_stride` elements, the others are dense.
  void Set(void* data, bp_dtype dtype, std::vector<int64_t> dims, int64_t lead_stride, bp_device device = {BP_DEVICE_CPU, 0});
  // Changes only the address and the size of dimension 0. Allocates nothing.
  void Move(void* data, uint64_t n) {
    view.data = data;
    shape[0] = static_cast<int64_t>(n);
  }
};

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeDeleter>;
// Aligned to 64 bytes, and to large pages from 2 MiB on. `touch` false maps pages at their first write. Throws std::bad_alloc.
AlignedBytes AllocateAligned(uint64_t bytes, bool touch = true);

// One channel over `entries` time entries of `lead` rows (rows, or rows * agents), in the env's memory. If it is on a device,
// the host only sees the mirror, if any, in the state of the last Fetch.
class ChannelBuffer {
 public:
  enum class Entries {
    kBound,  // each entry is aligned and has a tensor for plugins
    kDense   // contiguous entries in host memory, used as a whole
  };
  // Throws TrialFailure (BP_E_OOM_HOST or the device's code) if the size exceeds any machine, and the errors of
  // EnvMemory::Allocate.
  ChannelBuffer(const bp_channel& channel, uint64_t lead, uint64_t entries, const EnvMemory& memory = {}, bool mirrored = false,
                Entries kind = Entries::kBound);

  bp_tensor* entry(uint64_t t) { return &entries_[t].view; }                  // [lead, shape...]; not for kDense
  bp_tensor* whole() { return &whole_.view; }                                 // [entries, lead, shape...]
  void SetEntries(uint64_t n) { whole_.shape[0] = static_cast<int64_t>(n); }  // shows only the first n of them in whole()
  // The host's address of a row. Not for a buffer on a device without a mirror.
  std::byte* row(uint64_t t, uint64_t r) { return host_ + t * entry_bytes_ + r * row_bytes_; }
  // The plugins' address of a row; on a device the host must not dereference it.
  std::byte* place(uint64_t t, uint64_t r) const { return base() + t * entry_bytes_ + r * row_bytes_; }
  template <class T>
  T* at(uint64_t t, uint64_t r) {
    return reinterpret_cast<T*>(row(t, r));
  }
  // The number in a channel with one float32 or float64 per row. For the end of an episode, not for every step. A float32 keeps
  // its shortest decimal form.
  double Number(uint64_t t, uint64_t r) { return dtype_.bits == 64 ? *at<double>(t, r) : AsWritten(*at<float>(t, r)); }
  void CopyEntry(uint64_t from, uint64_t to);
  // Copies from the device to the mirror; Send copies back. Does nothing without a mirror.
  void Fetch();
  // Returns after the device has finished all earlier work. False: impossible without a mirror.
  bool AwaitDevice();
  void Send();
  // A sentence about a changed byte around the buffer; absent if all are intact. [control]
  std::optional<std::string> GuardBreak() const;
  // Bytes of the guard on either side of the buffer: at least one row, except for very large rows.
  uint64_t guard_bytes() const { return guard_bytes_; }
  uint64_t bytes() const { return bytes_; }  // of all entries
  uint64_t lead() const { return lead_; }
  bool on_device() const { return memory_.on_device(); }
  uint64_t row_bytes() const { return row_bytes_; }
  uint64_t row_elements() const { return row_elements_; }
  const std::string& name() const { return name_; }
  uint16_t role() const { return role_; }
  bp_dtype dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }  // of one row

 private:
  std::byte* base() const { return block_.get() + guard_bytes_; }
  void Allocate(bool mirrored);
  // The gap between the last row of an entry and the next entry; also a guard in host memory.
  std::byte* Padding(uint64_t t) const { return place(t, lead_); }
  uint64_t padding_bytes() const { return entry_bytes_ - lead_ * row_bytes_; }

  std::string name_;
  uint16_t role_;
  bp_dtype dtype_;
  std::vector<int64_t> shape_;
  uint64_t row_elements_ = 1, row_bytes_, entry_bytes_, lead_, bytes_;
  uint64_t guard_bytes_;
  EnvMemory memory_;
  EnvMemory::Bytes block_;
  AlignedBytes mirror_;        // of a buffer on a device, or NULL
  std::byte* host_ = nullptr;  // the buffer in host memory, otherwise its mirror
  std::deque<Tensor> entries_;
  Tensor whole_;
};

// Throws TrialFailure if bytes around the buffer have changed. Blames the owner of the channel: the learner for ACTION, EXTRA
// and CARRY, the env for all others.
void CheckGuard(const ChannelBuffer& buffer, const EnvInstance& env, const LearnerInstance& learner);

}  // namespace backplane
