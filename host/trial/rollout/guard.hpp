// Guard bytes of the host around memory that a plugin writes. A plugin that writes outside its memory changes them, and the
// host detects it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

void FillGuard(std::byte* guard, uint64_t bytes);

// Distance of the nearest changed byte from the guarded memory, 0 for the adjacent one; `before`: the guard precedes the
// memory. Absent if all bytes are as FillGuard left them.
std::optional<uint64_t> GuardChange(const std::byte* guard, uint64_t bytes, bool before);

// "expected nothing written outside channel 'obs', got a change 3 bytes after its end"
std::string GuardSentence(const std::string& channel, uint64_t distance, bool before);

}  // namespace backplane
