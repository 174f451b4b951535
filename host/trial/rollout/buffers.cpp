#include "rollout/buffers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "rollout/guard.hpp"
#include "rollout/instance.hpp"

namespace backplane {
namespace {

constexpr uint64_t kAlignBytes = 64;
constexpr uint64_t kLargePage = 2 << 20;  // of x86-64 and ARM
constexpr uint64_t kMaxGuardBytes = 4096;
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;  // of a buffer, so that later additions do not overflow

uint64_t RoundUp(uint64_t n, uint64_t align = kAlignBytes) { return (n + align - 1) / align * align; }

}  // namespace

bool IsStateRole(uint16_t role) {
  switch (role) {
    case BP_ROLE_OBS:
    case BP_ROLE_STATE:
    case BP_ROLE_ACTION_MASK:
    case BP_ROLE_ALIVE:
    case BP_ROLE_LENGTH:
    case BP_ROLE_CARRY: return true;
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

// With pages of 4 KiB, the lookup of addresses takes a quarter of the time of an env of small steps: a rollout is larger than
// the caches, and each page is written once per iteration.
AlignedBytes AllocateAligned(uint64_t bytes, bool touch) {
  const bool large = bytes >= kLargePage;
  const uint64_t size = RoundUp(bytes ? bytes : 1);
  void* p = nullptr;
  if (posix_memalign(&p, large ? kLargePage : kAlignBytes, size) != 0) throw std::bad_alloc();
  // The last part keeps small pages, so that no memory is lost. Kernels without large pages ignore the advice.
  if (large) madvise(p, size / kLargePage * kLargePage, MADV_HUGEPAGE);
  if (touch) std::memset(p, 0, size);
  return AlignedBytes(static_cast<std::byte*>(p));
}

ChannelBuffer::ChannelBuffer(const bp_channel& channel, uint64_t lead, uint64_t entries, const EnvMemory& memory, bool mirrored,
                             Entries kind)
    : name_(channel.name),
      role_(channel.role),
      dtype_(channel.dtype),
      shape_(channel.shape, channel.shape + channel.ndim),
      lead_(lead),
      memory_(memory) {
  for (int64_t d : shape_) row_elements_ *= static_cast<uint64_t>(d);
  const uint64_t item = dtype_.bits / 8;
  row_bytes_ = row_elements_ * item;
  const bool dense = kind == Entries::kDense;
  entry_bytes_ = dense ? lead * row_bytes_ : RoundUp(lead * row_bytes_, memory.alignment());
  if (__builtin_mul_overflow(entry_bytes_, entries, &bytes_) || bytes_ > kMaxBytes)
    throw TrialFailure(memory.on_device() ? BP_E_OOM_DEVICE : BP_E_OOM_HOST, "",
                       fmt::format("channel '{}': expected {} bytes at most, got {} entries of {} bytes each", name_, kMaxBytes,
                                   entries, entry_bytes_));
  guard_bytes_ = RoundUp(std::clamp(row_bytes_, memory.alignment(), kMaxGuardBytes), memory.alignment());
  Allocate(mirrored);
  std::vector<int64_t> dims{static_cast<int64_t>(lead)};
  dims.insert(dims.end(), shape_.begin(), shape_.end());
  for (uint64_t t = 0; t < entries && !dense; ++t)
    entries_.emplace_back().Set(place(t, 0), dtype_, dims, static_cast<int64_t>(row_elements_), memory.device());
  dims.insert(dims.begin(), static_cast<int64_t>(entries));
  whole_.Set(base(), dtype_, dims, static_cast<int64_t>(entry_bytes_ / item), memory.device());
}

// Guards enclose memory that the env and the learner write. Only the host uses the mirror, so it has none.
void ChannelBuffer::Allocate(bool mirrored) {
  block_ = memory_.Allocate(bytes_ + 2 * guard_bytes_);
  if (!memory_.on_device()) {
    host_ = base();
    FillGuard(host_ - guard_bytes_, guard_bytes_);
    FillGuard(host_ + bytes_, guard_bytes_);
    const uint64_t padded = padding_bytes() > 0 ? bytes_ / entry_bytes_ : 0;
    for (uint64_t t = 0; t < padded; ++t) FillGuard(Padding(t), padding_bytes());
    return;
  }
  std::vector<std::byte> guard(guard_bytes_);
  FillGuard(guard.data(), guard_bytes_);
  memory_.FromHost(base() - guard_bytes_, guard.data(), guard_bytes_);
  memory_.FromHost(base() + bytes_, guard.data(), guard_bytes_);
  if (!mirrored) return;
  mirror_ = AllocateAligned(bytes_);
  host_ = mirror_.get();
}

std::optional<std::string> ChannelBuffer::GuardBreak() const {
  std::vector<std::byte> copy(memory_.on_device() ? guard_bytes_ : 0);
  for (const bool before : {true, false}) {
    const std::byte* guard = before ? base() - guard_bytes_ : base() + bytes_;
    if (memory_.on_device()) {
      memory_.ToHost(copy.data(), guard, guard_bytes_);
      guard = copy.data();
    }
    if (const auto distance = GuardChange(guard, guard_bytes_, before)) return GuardSentence(name_, *distance, before);
  }
  const bool padded = !memory_.on_device() && padding_bytes() > 0;
  for (uint64_t t = 0; padded && t < bytes_ / entry_bytes_; ++t)
    if (const auto distance = GuardChange(Padding(t), padding_bytes(), false))
      return GuardSentence(name_, *distance, false) + fmt::format(" in slot {}", t);
  return std::nullopt;
}

void ChannelBuffer::CopyEntry(uint64_t from, uint64_t to) { memory_.Copy(place(to, 0), place(from, 0), lead_ * row_bytes_); }

void ChannelBuffer::Fetch() {
  if (mirror_) memory_.ToHost(host_, base(), bytes_);
}

bool ChannelBuffer::AwaitDevice() {
  if (!mirror_) return false;
  memory_.ToHost(host_, base(), std::min<uint64_t>(bytes_, 1));  // a copy waits for all earlier work
  return true;
}

void ChannelBuffer::Send() {
  if (mirror_) memory_.FromHost(base(), host_, bytes_);
}

void CheckGuard(const ChannelBuffer& buffer, const EnvInstance& env, const LearnerInstance& learner) {
  const auto found = buffer.GuardBreak();
  if (!found) return;
  const bool of_learner = buffer.role() == BP_ROLE_ACTION || buffer.role() == BP_ROLE_EXTRA || buffer.role() == BP_ROLE_CARRY;
  throw TrialFailure(BP_E_INTERNAL, of_learner ? learner.id() : env.id(), *found);
}

}  // namespace backplane
