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

// Roles whose value belongs to a state, not to a transition: a rollout keeps T+1 of them.
bool IsStateRole(uint16_t role);

// A tensor that carries its own shape and strides; its address is fixed, as plugins keep pointers to it.
struct Tensor {
  Tensor() = default;
  Tensor(const Tensor&) = delete;
  bp_tensor view{};
  std::vector<int64_t> shape, strides;
  // Points at `data` on `device`; the stride of dimension 0 is `lead_stride` elements, the others are dense.
  void Set(void* data, bp_dtype dtype, std::vector<int64_t> dims, int64_t lead_stride, bp_device device = {BP_DEVICE_CPU, 0});
};

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeDeleter>;
// Aligned to 64 bytes. Throws std::bad_alloc. `touch` false leaves the pages unmapped until somebody writes there.
AlignedBytes AllocateAligned(uint64_t bytes, bool touch = true);

// One channel over `entries` time entries of `lead` rows (rows, or rows * agents), in the memory that the env works on. Of a
// buffer on a device the host sees nothing but its mirror, if it has one, as it was at the last Fetch.
class ChannelBuffer {
 public:
  enum class Entries {
    kBound,  // each is aligned and has a tensor, which plugins are given
    kDense   // one follows the other, for the host and whoever gets the whole; in the host's memory
  };
  // Throws TrialFailure (BP_E_OOM_HOST or of the device) if no machine could hold so much, and what EnvMemory::Allocate throws.
  ChannelBuffer(const bp_channel& channel, uint64_t lead, uint64_t entries, const EnvMemory& memory = {}, bool mirrored = false,
                Entries kind = Entries::kBound);

  bp_tensor* entry(uint64_t t) { return &entries_[t].view; }  // [lead, shape...]; not of dense ones
  bp_tensor* whole() { return &whole_.view; }                 // [entries, lead, shape...]
  // Where the host sees a row: not for a buffer on a device without a mirror.
  std::byte* row(uint64_t t, uint64_t r) { return host_ + t * entry_bytes_ + r * row_bytes_; }
  // Where plugins have it; on a device an address that the host does not follow.
  std::byte* place(uint64_t t, uint64_t r) const { return base() + t * entry_bytes_ + r * row_bytes_; }
  template <class T>
  T* at(uint64_t t, uint64_t r) {
    return reinterpret_cast<T*>(row(t, r));
  }
  // The number of a channel with one float32 or float64 per row, for the end of an episode and not for every step: float32 as
  // it is written.
  double Number(uint64_t t, uint64_t r) { return dtype_.bits == 64 ? *at<double>(t, r) : AsWritten(*at<float>(t, r)); }
  void CopyEntry(uint64_t from, uint64_t to);
  // The device's numbers for the mirror, and the mirror's for the device. Nothing without a mirror.
  void Fetch();
  // Returns once the device has done what was asked of it before; false: there is no mirror to do that by.
  bool AwaitDevice();
  void Send();
  // A byte around the buffer that somebody has changed, as a sentence; nothing if all are as they were. [control]
  std::optional<std::string> GuardBreak() const;
  // Bytes on either side of the buffer that belong to it and to no entry: one row at least, but for very large ones.
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
  std::byte* base() const { return memory_.on_device() ? device_ : host_; }
  void Allocate(bool mirrored);
  // Behind the last row of an entry, up to the next one: a guard too, where the host sees it.
  std::byte* Padding(uint64_t t) const { return place(t, lead_); }
  uint64_t padding_bytes() const { return entry_bytes_ - lead_ * row_bytes_; }

  std::string name_;
  uint16_t role_;
  bp_dtype dtype_;
  std::vector<int64_t> shape_;
  uint64_t row_elements_ = 1, row_bytes_, entry_bytes_, lead_, bytes_;
  uint64_t guard_bytes_;
  EnvMemory memory_;
  EnvMemory::Bytes device_block_;
  AlignedBytes host_block_;
  std::byte* device_ = nullptr;  // NULL where the env works in the host's own memory
  std::byte* host_ = nullptr;    // then the buffer itself; else its mirror, or NULL
  std::deque<Tensor> entries_;
  Tensor whole_;
};

// Throws TrialFailure if bytes around the buffer have changed. Whose channel it is, is taken to have done so: an ACTION or
// EXTRA channel is the learner's, all others are the env's.
void CheckGuard(const ChannelBuffer& buffer, const EnvInstance& env, const LearnerInstance& learner);

}  // namespace backplane
