#include "rollout/action_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace backplane {
namespace {

// Checks eight numbers at a time: their unsigned maximum shows whether one of them is too large. `mask` clears the sign of a
// float, so that the bits of finite values are less than infinity's.
constexpr uint64_t kLanes = 8;
typedef uint32_t Lanes __attribute__((vector_size(4 * kLanes)));

[[gnu::always_inline]] inline void Add(const std::byte* data, const Lanes& masks, Lanes* most) {
  Lanes lanes;
  std::memcpy(&lanes, data, sizeof lanes);
  lanes &= masks;
  *most = *most > lanes ? *most : lanes;
}

[[gnu::always_inline]] inline uint32_t LargestOf(const std::byte* data, uint64_t n, uint32_t mask) {
  uint32_t largest = 0;
  if (n < kLanes) {
    for (uint64_t i = 0; i < n; ++i) {
      uint32_t number;
      std::memcpy(&number, data + 4 * i, sizeof number);
      largest = std::max(largest, number & mask);
    }
    return largest;
  }
  const Lanes masks = mask - Lanes{};
  Lanes most{};
  uint64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    for (uint64_t k = 0; k < 4; ++k) Add(data + 4 * (i + k * kLanes), masks, &most);
  for (; i + kLanes <= n; i += kLanes) Add(data + 4 * i, masks, &most);
  if (i < n) Add(data + 4 * (n - kLanes), masks, &most);  // some of them twice
  for (uint64_t lane = 0; lane < kLanes; ++lane) largest = std::max(largest, most[lane]);
  return largest;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) uint32_t LargestAvx2(const std::byte* data, uint64_t n, uint32_t mask) {
  return LargestOf(data, n, mask);
}
uint32_t Largest(const std::byte* data, uint64_t n, uint32_t mask) {
  return __builtin_cpu_supports("avx2") ? LargestAvx2(data, n, mask) : LargestOf(data, n, mask);
}
#else
uint32_t Largest(const std::byte* data, uint64_t n, uint32_t mask) { return LargestOf(data, n, mask); }
#endif

constexpr uint32_t kNoSign = 0x7fffffff, kInfinity = 0x7f800000;

// Number i of an array as a double, which is exact for the values compared here. Absent if the host does not support the type.
std::optional<double> NumberAt(bp_dtype dtype, const std::byte* data, uint64_t i) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  const int bits = dtype.bits;
  if (dtype.code == BP_DTYPE_FLOAT)
    return bits == 32 ? std::optional(as(float{})) : bits == 64 ? std::optional(as(double{})) : std::nullopt;
  if (dtype.code == BP_DTYPE_INT)
    return bits == 8 ? as(int8_t{}) : bits == 16 ? as(int16_t{}) : bits == 32 ? as(int32_t{}) : as(int64_t{});
  return bits == 8 ? as(uint8_t{}) : bits == 16 ? as(uint16_t{}) : bits == 32 ? as(uint32_t{}) : as(uint64_t{});
}

// The number of choices per number of an entry; empty: the space is not discrete.
std::vector<int64_t> Choices(const bp_channel& c) {
  if (c.space == BP_SPACE_DISCRETE) return std::vector<int64_t>(Elements(c), c.nvec[0]);
  if (c.space == BP_SPACE_MULTI_DISCRETE) return std::vector<int64_t>(c.nvec, c.nvec + Elements(c));
  if (c.space == BP_SPACE_MULTI_BINARY) return std::vector<int64_t>(Elements(c), 2);
  return {};
}

}  // namespace

void ActionCheck::Bind(const EnvInstance& env, const std::function<ChannelBuffer*(const std::string&)>& find) {
  channels_.clear();
  if (env.on_device()) return;
  for (const bp_channel* c : env.channels()) {
    const bool is_float = c->dtype.code == BP_DTYPE_FLOAT;
    const std::vector<int64_t> nvec = Choices(*c);
    if (c->role != BP_ROLE_ACTION || (!is_float && nvec.empty())) continue;
    const uint64_t per_row = env.Lead(*c) / env.rows();
    Channel channel{find(c->name), per_row, per_row * Elements(*c), OneByOne, 0, nvec};
    if (is_float && c->dtype.bits == 32 && nvec.empty()) channel.allows = Finite32;
    if (c->space == BP_SPACE_DISCRETE && !is_float && c->dtype.bits == 32) {
      channel.choices = static_cast<uint32_t>(nvec[0]);
      channel.allows = Below32;
    }
    channels_.push_back(std::move(channel));
  }
}

bool ActionCheck::Finite32(const Channel&, const std::byte* data, uint64_t n) { return Largest(data, n, kNoSign) < kInfinity; }

bool ActionCheck::Below32(const Channel& channel, const std::byte* data, uint64_t n) {
  return Largest(data, n, ~uint32_t{0}) < channel.choices;
}

bool ActionCheck::OneByOne(const Channel& channel, const std::byte* data, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i)
    if (channel.Look(data, i)) return false;
  return true;
}

std::optional<BadAction> ActionCheck::Channel::Look(const std::byte* data, uint64_t i) const {
  const std::optional<double> found = NumberAt(buffer->dtype(), data, i);
  if (!found) return std::nullopt;
  const bool finite = std::isfinite(*found);
  const int64_t n_choices = nvec.empty() ? 0 : nvec[i % nvec.size()];
  if (nvec.empty() ? finite : *found >= 0 && *found < static_cast<double>(n_choices) && *found == std::floor(*found))
    return std::nullopt;
  const std::string wanted = nvec.empty() ? "a finite number" : fmt::format("a whole number from 0 to {}", n_choices - 1);
  return BadAction{0, !finite, fmt::format("expected {}, got {}", wanted, *found)};
}

BadAction ActionCheck::Find(uint64_t t, uint64_t begin, uint64_t end) const {
  for (uint64_t row = begin; row < end; ++row)
    for (const Channel& c : channels_)
      for (uint64_t i = 0; i < c.elements; ++i) {
        std::optional<BadAction> bad = c.Look(c.buffer->row(t, row * c.per_row), i);
        if (!bad) continue;
        const uint64_t each = c.elements / c.per_row;
        const std::string element = c.buffer->shape().empty() ? "" : fmt::format("[{}]", i % each);
        const std::string agent = c.per_row > 1 ? fmt::format(", agent {}", i / each) : "";
        bad->row = row;
        bad->text = fmt::format("{}{} of row {}{}: {}", c.buffer->name(), element, row, agent, bad->text);
        return *bad;
      }
  return {begin, false, "expected a constant action during the check, got one that changed"};
}

void RefuseAction(const BadAction& bad, const std::string& when, const std::optional<std::string>& source,
                  const EnvInstance& env, const LearnerInstance& learner) {
  if (bad.not_finite && source)
    throw TrialFailure(BP_E_NUMERIC, env.id(), fmt::format("{}; then: {} acts: {} {}", *source, learner.id(), bad.text, when));
  throw TrialFailure(bad.not_finite ? BP_E_NUMERIC : BP_E_INTERNAL, learner.id(), fmt::format("act: {} {}", bad.text, when));
}

}  // namespace backplane
