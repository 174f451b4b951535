#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace backplane {
namespace {

struct Character {
  char32_t code = 0;
  size_t bytes = 0;  // 0: these bytes are not UTF-8
};

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Decodes the first character of `text`, which is not empty. Rejects overlong forms and surrogates.
Character FirstOf(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes || !std::all_of(text.begin() + 1, text.begin() + bytes, Continues))
    return {};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[bytes] || surrogate || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

// Control characters, line separators and marks that change the direction of text.
bool Moves(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string Escaped(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  char text[16];
  std::snprintf(text, sizeof text, code < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
  return text;
}

}  // namespace

std::string Printable(std::string_view text, size_t columns) {
  constexpr std::string_view kCut = "...";
  std::string shown;
  size_t used = 0;
  size_t room_bytes = 0;  // of `shown` that leaves room for the mark
  while (!text.empty()) {
    const Character character = FirstOf(text);
    const bool escaped = character.bytes > 0 && Moves(character.code);
    const std::string piece = character.bytes == 0 ? "\xEF\xBF\xBD"
                              : escaped            ? Escaped(character.code)
                                                   : std::string(text.substr(0, character.bytes));
    const size_t width = escaped ? piece.size() : 1;
    if (width > columns - used) return shown.substr(0, room_bytes) + std::string(kCut.substr(0, columns));
    shown += piece;
    used += width;
    if (used + kCut.size() <= columns) room_bytes = shown.size();
    text.remove_prefix(std::max<size_t>(1, character.bytes));
  }
  return shown;
}

std::vector<std::string> PrintableLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.push_back(Printable(line));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

std::string PrintableFirstLine(std::string_view text) { return Printable(text.substr(0, text.find('\n'))); }

size_t FindNotUtf8(std::string_view text) {
  size_t at = 0;
  for (size_t bytes = 1; at < text.size() && bytes > 0; at += bytes) bytes = FirstOf(text.substr(at)).bytes;
  return at;
}

}  // namespace backplane
