#include "rollout/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace backplane {
namespace {
constexpr uint64_t kAlign = 64;
uint64_t RoundUp(uint64_t n, uint64_t align = kAlign) { return (n + align - 1) / align * align; }
}  // namespace

bool IsStateRole(uint16_t role) {
  switch (role) {
    case BP_ROLE_OBS:
    case BP_ROLE_STATE:
    case BP_ROLE_ACTION_MASK:
    case BP_ROLE_ALIVE:
    case BP_ROLE_LENGTH: return true;
    default: return false;
  }
}

void Tensor::Set(void* data, bp_dtype dtype, std::vector<int64_t> dims, int64_t lead_stride, bp_device device) {
  shape = std::move(dims);
  strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  if (!shape.empty() && lead_stride > 0) strides[0] = lead_stride;
  view = {data, device, static_cast<int32_t>(shape.size()), dtype, shape.data(), strides.data(), 0};
}

AlignedBytes AllocateAligned(uint64_t bytes, bool touch) {
  const uint64_t size = RoundUp(bytes ? bytes : 1);
  auto* p = static_cast<std::byte*>(std::aligned_alloc(kAlign, size));
  if (p == nullptr) throw std::bad_alloc();
  if (touch) std::memset(p, 0, size);
  return AlignedBytes(p);
}

ChannelBuffer::ChannelBuffer(const bp_channel& channel, uint64_t lead, uint64_t entries, const EnvMemory& memory, bool mirrored)
    : name_(channel.name),
      role_(channel.role),
      dtype_(channel.dtype),
      shape_(channel.shape, channel.shape + channel.ndim),
      lead_(lead),
      memory_(memory) {
  for (int64_t d : shape_) row_elements_ *= static_cast<uint64_t>(d);
  const uint64_t item = dtype_.bits / 8;
  row_bytes_ = row_elements_ * item;
  entry_bytes_ = RoundUp(lead * row_bytes_, memory.alignment());
  bytes_ = entry_bytes_ * entries;
  if (memory.on_device()) device_ = memory.Allocate(bytes_);
  if (!memory.on_device() || mirrored) host_ = AllocateAligned(bytes_);
  std::vector<int64_t> dims{static_cast<int64_t>(lead)};
  dims.insert(dims.end(), shape_.begin(), shape_.end());
  for (uint64_t t = 0; t < entries; ++t)
    entries_.emplace_back().Set(place(t, 0), dtype_, dims, static_cast<int64_t>(row_elements_), memory.device());
  dims.insert(dims.begin(), static_cast<int64_t>(entries));
  whole_.Set(base(), dtype_, dims, static_cast<int64_t>(entry_bytes_ / item), memory.device());
}

void ChannelBuffer::CopyEntry(uint64_t from, uint64_t to) { memory_.Copy(place(to, 0), place(from, 0), lead_ * row_bytes_); }

void ChannelBuffer::Fetch() {
  if (device_ && host_) memory_.ToHost(host_.get(), device_.get(), bytes_);
}

bool ChannelBuffer::AwaitDevice() {
  if (!device_ || !host_) return false;
  memory_.ToHost(host_.get(), device_.get(), std::min<uint64_t>(bytes_, 1));  // a copy is in order with all else
  return true;
}

void ChannelBuffer::Send() {
  if (device_ && host_) memory_.FromHost(device_.get(), host_.get(), bytes_);
}

}  // namespace backplane
