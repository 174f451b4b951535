// Text as characters.
#pragma once

#include <string>

namespace backplane {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// A byte that is not UTF-8 becomes kReplacementCharacter.
std::u32string FromUtf8(const std::string& text);
std::string ToUtf8(const std::u32string& text);

// Valid UTF-8 without control characters: a line break becomes a space, a byte that is not UTF-8 U+FFFD.
std::string OneLine(const std::string& text);

}  // namespace backplane
