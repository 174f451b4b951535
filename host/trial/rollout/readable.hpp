// Reads memory through plugins' pointers safely. Plugin specs are validated before anything is known of them, and an invalid
// pointer must cause an error message, not a crash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

// Copies `bytes` of this process's memory; false if they are not all readable. Copies without a check if the kernel does not
// permit one (a sandbox).
bool CopyReadable(void* to, const void* from, uint64_t bytes);

// True if one byte of each page of [from, from + bytes) is readable.
bool IsReadable(const void* from, uint64_t bytes);

// The text at `from` without its end, truncated to `most` bytes. Absent if it is unreadable.
std::optional<std::string> ReadableText(const char* from, uint64_t most);

}  // namespace backplane
