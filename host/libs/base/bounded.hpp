// Limits the length of stored texts from plugins.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

inline constexpr size_t kMaxSentence = 4096;  // bytes

// The first `most` bytes, cut between UTF-8 characters, and the number of omitted bytes.
inline std::string Bounded(std::string_view text, size_t most = kMaxSentence) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && most - end < 3 && (text[end] & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size() - end) + " bytes more)";
}

}  // namespace backplane
