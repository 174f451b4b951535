#include "rollout/channel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "backplane/env.h"
#include "backplane/learner.h"
#include "base/printable.hpp"
#include "rollout/failure.hpp"
#include "rollout/readable.hpp"

namespace backplane {
namespace {

std::string Hex(const void* at) { return fmt::format("{:#x}", reinterpret_cast<uintptr_t>(at)); }

template <class T>
std::vector<T> ReadNumbers(const SpecPlace& place, const char* what, const T* said, uint64_t n) {
  if (n > kMaxListed) place.Refuse(fmt::format("at most {} numbers in {}", kMaxListed, what), std::to_string(n));
  const std::string wanted = fmt::format("{} numbers in {}", n, what);
  if (said == nullptr) place.Refuse(wanted, "NULL");
  const auto refuse = [&] { place.Refuse(wanted, fmt::format("memory at {} that cannot be read", Hex(said))); };
  if (!IsReadable(said, n * sizeof(T))) refuse();  // before allocation
  std::vector<T> out(n);
  if (!CopyReadable(out.data(), said, n * sizeof(T))) refuse();
  return out;
}

void CheckDtype(const SpecPlace& place, bp_dtype dtype) {
  if (dtype.code > BP_DTYPE_FLOAT) place.Refuse("dtype.code 0 (int), 1 (uint) or 2 (float)", std::to_string(dtype.code));
  const bool known =
      dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64 || (dtype.bits == 8 && dtype.code != BP_DTYPE_FLOAT);
  if (!known)
    place.Refuse(dtype.code == BP_DTYPE_FLOAT ? "dtype.bits 16, 32 or 64 of a float" : "dtype.bits 8, 16, 32 or 64",
                 std::to_string(dtype.bits));
  if (dtype.lanes != 1) place.Refuse("dtype.lanes 1", std::to_string(dtype.lanes));
}

void CheckEnums(const SpecPlace& place, const bp_channel& c) {
  if (c.role < BP_ROLE_OBS || c.role > BP_ROLE_CARRY)
    place.Refuse(fmt::format("a role from {} to {}", int{BP_ROLE_OBS}, int{BP_ROLE_CARRY}), std::to_string(c.role));
  if (c.space < BP_SPACE_BOX || c.space > BP_SPACE_BYTES)
    place.Refuse(fmt::format("a space from {} to {}", int{BP_SPACE_BOX}, int{BP_SPACE_BYTES}), std::to_string(c.space));
  if (c.scope != BP_SCOPE_ROW && c.scope != BP_SCOPE_AGENT) place.Refuse("scope 1 (row) or 2 (agent)", std::to_string(c.scope));
}

// The size in version 1.0; structs have only grown since.
template <class T>
constexpr size_t kLeastBytes = sizeof(T);
template <>
constexpr size_t kLeastBytes<bp_channel> = offsetof(bp_channel, group);
template <>
constexpr size_t kLeastBytes<bp_env_spec> = offsetof(bp_env_spec, groups);

template <class T>
void CheckStructSize(const SpecPlace& place, uint32_t found) {
  if (found < kLeastBytes<T> || found > kMaxStructBytes || found % alignof(T) != 0)
    place.Refuse(fmt::format("struct_size {} to {}, a multiple of {}", kLeastBytes<T>, kMaxStructBytes, alignof(T)),
                 std::to_string(found));
}

// The item at `at` of an array whose items have `stride` bytes; fields that they lack are 0.
template <class T>
T ItemOf(const SpecPlace& spec, const void* said, uint64_t n, uint32_t stride, uint64_t i, const char* what) {
  T item{};
  const char* at = static_cast<const char*>(said) + i * stride;
  if (!CopyReadable(&item, at, std::min<size_t>(sizeof item, stride)))
    spec.Refuse(fmt::format("{} {}s of struct_size {}", n, what, stride),
                fmt::format("memory at {} that cannot be read, {} {}", Hex(at), what, i));
  return item;
}

// The distance of an array's items: the struct_size of the first one.
template <class T>
uint32_t StrideOf(const SpecPlace& spec, const T* said, uint64_t n, const char* what) {
  if (said == nullptr) spec.Refuse(fmt::format("{} {}s", n, what), "NULL");
  uint32_t stride = 0;
  if (!CopyReadable(&stride, said, sizeof stride))
    spec.Refuse(fmt::format("{} {}s", n, what), fmt::format("memory at {} that cannot be read", Hex(said)));
  CheckStructSize<T>(spec.At(fmt::format("{} 0", what)), stride);
  return stride;
}

}  // namespace

void SpecPlace::Refuse(const std::string& wanted, const std::string& found) const {
  throw TrialFailure(BP_E_INTERNAL, plugin_,
                     fmt::format("{}{}expected {}, got {}", where_, where_.empty() ? "" : ": ", wanted, found));
}

uint64_t Elements(const bp_channel& channel) {
  uint64_t n = 1;
  for (uint16_t i = 0; i < channel.ndim; ++i) n *= static_cast<uint64_t>(channel.shape[i]);
  return n;
}

std::string ReadSpecName(const SpecPlace& place, const char* said) {
  if (said == nullptr) place.Refuse("a name", "NULL");
  const std::optional<std::string> name = ReadableText(said, kMaxNameBytes + 1);
  if (!name) place.Refuse("a name", fmt::format("memory at {} that cannot be read", Hex(said)));
  const std::string wanted = fmt::format("a name of 1 to {} bytes", kMaxNameBytes);
  if (name->empty()) place.Refuse(wanted, "\"\"");
  if (name->size() > kMaxNameBytes) place.Refuse(wanted, fmt::format("a longer one, \"{}\"", Printable(*name, 43)));
  if (const size_t bad = FindNotUtf8(*name); bad < name->size())
    place.Refuse("UTF-8 in a name",
                 fmt::format("\"{}\\x{:02x}\"{}", Printable(name->substr(0, bad)), static_cast<unsigned char>((*name)[bad]),
                             bad + 1 < name->size() ? " ..." : ""));
  if (Printable(*name) != *name) place.Refuse("no control characters in a name", fmt::format("\"{}\"", Printable(*name)));
  return *name;
}

template <class T>
T ReadSpecStruct(const SpecPlace& place, const T* said) {
  uint32_t size = 0;
  T out{};
  if (said == nullptr) place.Refuse("a pointer", "NULL");
  if (!CopyReadable(&size, said, sizeof size)) place.Refuse("a pointer", fmt::format("{}, which cannot be read", Hex(said)));
  CheckStructSize<T>(place, size);
  if (!CopyReadable(&out, said, std::min<size_t>(sizeof out, size)))
    place.Refuse("a pointer", fmt::format("{}, which cannot be read", Hex(said)));
  out.struct_size = sizeof out;  // the size of the copy
  return out;
}
template bp_env_spec ReadSpecStruct(const SpecPlace&, const bp_env_spec*);
template bp_learner_spec ReadSpecStruct(const SpecPlace&, const bp_learner_spec*);

void ChannelTable::Read(const SpecPlace& spec, const bp_channel* said, uint64_t n) {
  if (n == 0) return;
  const uint32_t stride = StrideOf(spec, said, n, "channel");
  for (uint64_t i = 0; i < n; ++i) Add(spec, ItemOf<bp_channel>(spec, said, n, stride, i, "channel"), i);
}

void GroupTable::Read(const SpecPlace& spec, const bp_group* said, uint64_t n) {
  if (n == 0) return;
  const uint32_t stride = StrideOf(spec, said, n, "group");
  for (uint64_t i = 0; i < n; ++i) {
    bp_group group = ItemOf<bp_group>(spec, said, n, stride, i, "group");
    const std::string name = ReadSpecName(spec.At(fmt::format("group {}", i)), group.name);
    for (size_t k = 0; k < names_.size(); ++k)
      if (names_[k] == name)
        spec.At(fmt::format("group '{}'", name)).Refuse("a name of its own", fmt::format("that of group {}", k));
    group.name = names_.emplace_back(name).c_str();
    group.struct_size = sizeof group;
    groups_.push_back(group);
  }
}

void ChannelTable::Add(const SpecPlace& spec, bp_channel channel, uint64_t index) {
  const SpecPlace unnamed = spec.At(fmt::format("channel {}", index));
  const std::string name = ReadSpecName(unnamed, channel.name);
  const SpecPlace place = spec.At(fmt::format("channel '{}'", name));
  CheckStructSize<bp_channel>(place, channel.struct_size);
  for (size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) place.Refuse("a name of its own", fmt::format("that of channel {}", i));
  CheckEnums(place, channel);
  CheckDtype(place, channel.dtype);
  CopyShape(place, &channel);
  CopyChoices(place, &channel);
  CopyBounds(place, &channel);
  channel.name = names_.emplace_back(name).c_str();
  channel.struct_size = sizeof channel;
  channels_.push_back(channel);
}

void ChannelTable::CopyShape(const SpecPlace& place, bp_channel* channel) {
  if (channel->ndim > kMaxDims) place.Refuse(fmt::format("ndim 0 to {}", kMaxDims), std::to_string(channel->ndim));
  if (channel->ndim == 0) {
    channel->shape = nullptr;
    return;
  }
  const auto& shape = whole_numbers_.emplace_back(ReadNumbers(place, "shape", channel->shape, channel->ndim));
  uint64_t bytes = channel->dtype.bits / 8;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1) place.Refuse(fmt::format("shape[{}] 1 or more", i), std::to_string(shape[i]));
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(shape[i]), &bytes) || bytes > kMaxChannelBytes)
      place.Refuse(fmt::format("a shape of at most {} bytes per row", kMaxChannelBytes),
                   fmt::format("[{}]", fmt::join(shape, ", ")));
  }
  channel->shape = shape.data();
}

// Actions are sampled from these numbers, so they must be valid.
void ChannelTable::CopyChoices(const SpecPlace& place, bp_channel* channel) {
  const bool many = channel->space == BP_SPACE_MULTI_DISCRETE;
  if (!many && channel->space != BP_SPACE_DISCRETE && channel->space != BP_SPACE_TOKENS) {
    if (channel->nvec != nullptr) place.Refuse("nvec NULL in a space that has no choices", Hex(channel->nvec));
    return;
  }
  if (channel->nvec == nullptr) place.Refuse("the numbers of choices in nvec", "NULL");
  const auto& nvec = whole_numbers_.emplace_back(ReadNumbers(place, "nvec", channel->nvec, many ? Elements(*channel) : 1));
  for (size_t i = 0; i < nvec.size(); ++i) {
    if (nvec[i] < 1) place.Refuse("1 choice or more", fmt::format("nvec[{}] = {}", i, nvec[i]));
    if (nvec[i] > std::numeric_limits<int32_t>::max())
      place.Refuse("2147483647 choices at most", fmt::format("nvec[{}] = {}", i, nvec[i]));
  }
  channel->nvec = nvec.data();
}

void ChannelTable::CopyBounds(const SpecPlace& place, bp_channel* channel) {
  const uint64_t n = channel->n_bounds, elements = Elements(*channel);
  if (n > 1 && n != elements)
    place.Refuse(fmt::format("no bounds, one pair for all elements, or one pair for each of its {} elements", elements),
                 fmt::format("n_bounds = {}", n));
  if (n == 0) {
    if (channel->low != nullptr || channel->high != nullptr)
      place.Refuse("low and high NULL, since n_bounds = 0", channel->low != nullptr ? "low" : "high");
    return;
  }
  if (channel->low == nullptr || channel->high == nullptr)
    place.Refuse(fmt::format("low and high, since n_bounds = {}", n), channel->low == nullptr ? "low = NULL" : "high = NULL");
  const auto& low = numbers_.emplace_back(ReadNumbers(place, "low", channel->low, n));
  const auto& high = numbers_.emplace_back(ReadNumbers(place, "high", channel->high, n));
  for (uint64_t i = 0; i < n; ++i) {
    const bool ordered = low[i] <= high[i];  // false with NaN
    if (!ordered || low[i] == INFINITY || high[i] == -INFINITY)
      place.Refuse(fmt::format("low[{0}] <= high[{0}]", i), fmt::format("{} and {}", low[i], high[i]));
  }
  channel->low = low.data();
  channel->high = high.data();
}

}  // namespace backplane
