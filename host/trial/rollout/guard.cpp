#include "rollout/guard.hpp"

#include <fmt/format.h>

namespace backplane {
namespace {

// Avoids values that plugins often write, such as 0 and NaN, and differs between neighbours.
std::byte GuardByte(uint64_t i) { return static_cast<std::byte>(0xA5 ^ (i * 29 & 0xff)); }

}  // namespace

void FillGuard(std::byte* guard, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) guard[i] = GuardByte(i);
}

std::optional<uint64_t> GuardChange(const std::byte* guard, uint64_t bytes, bool before) {
  for (uint64_t distance = 0; distance < bytes; ++distance) {
    const uint64_t i = before ? bytes - 1 - distance : distance;
    if (guard[i] != GuardByte(i)) return distance;
  }
  return std::nullopt;
}

std::string GuardSentence(const std::string& channel, uint64_t distance, bool before) {
  return fmt::format("expected nothing written outside channel '{}', got a change {} bytes {}", channel, distance,
                     before ? "before its start" : "after its end");
}

}  // namespace backplane
