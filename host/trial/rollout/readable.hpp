// Reads memory that a plugin points to without believing that it is there: what a plugin says about itself is looked at before
// anything is known of it, and a pointer that leads nowhere is to be a sentence, not a crash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane {

// Copies `bytes` of this process' own memory; false if they cannot all be read. Where the kernel refuses to say (a sandbox), it
// copies as if they could.
bool CopyReadable(void* to, const void* from, uint64_t bytes);

// Whether one byte of each page of [from, from + bytes) can be read.
bool IsReadable(const void* from, uint64_t bytes);

// The text at `from` without its end, at most `most` bytes of it (then the text goes on). Nothing if it cannot be read.
std::optional<std::string> ReadableText(const char* from, uint64_t most);

}  // namespace backplane
