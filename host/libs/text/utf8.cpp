#include "text/utf8.hpp"

#include <algorithm>
#include <array>

namespace backplane {
namespace {

// The number of bytes after this first byte of a character; -1: invalid.
int Following(unsigned char first) {
  if (first < 0x80) return 0;
  if (first >= 0xC2 && first < 0xE0) return 1;
  if (first >= 0xE0 && first < 0xF0) return 2;
  return first >= 0xF0 && first < 0xF5 ? 3 : -1;
}

bool IsCharacter(char32_t code, int following) {
  constexpr std::array<char32_t, 4> kLeast = {0, 0x80, 0x800, 0x10000};
  return code >= kLeast[following] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

bool IsControl(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029; }

}  // namespace

std::u32string FromUtf8(const std::string& text) {
  std::u32string decoded;
  for (size_t at = 0; at < text.size();) {
    const int following = Following(static_cast<unsigned char>(text[at]));
    char32_t code = static_cast<unsigned char>(text[at++]) & (following <= 0 ? 0x7F : 0x3F >> following);
    int read = 0;
    while (read < following && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
      code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3F);
      ++read;
    }
    decoded += following >= 0 && read == following && IsCharacter(code, following) ? code : kReplacementCharacter;
  }
  return decoded;
}

std::string ToUtf8(const std::u32string& text) {
  std::string encoded;
  for (const char32_t code : text) {
    if (code < 0x80) {
      encoded += static_cast<char>(code);
      continue;
    }
    const int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    encoded += static_cast<char>((0xFF00 >> (following + 1) & 0xFF) | code >> (6 * following));
    for (int rest = following - 1; rest >= 0; --rest) encoded += static_cast<char>(0x80 | (code >> (6 * rest) & 0x3F));
  }
  return encoded;
}

std::string OneLine(const std::string& text) {
  std::u32string decoded = FromUtf8(text);
  std::replace_if(decoded.begin(), decoded.end(), IsControl, U' ');
  return ToUtf8(decoded);
}

}  // namespace backplane
