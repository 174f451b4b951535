#include "rouge/unicode.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace backplane::rouge {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// The meaning of a multi-byte sequence's lead byte. The second byte's range excludes overlong forms, surrogates and numbers
// beyond U+10FFFF (Unicode standard, table 3-7).
struct Lead {
  int length;  // 0: invalid lead byte
  uint8_t second_low, second_high;
};

Lead ReadLead(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte >= 0xE0 && byte <= 0xEF)
    return {3, static_cast<uint8_t>(byte == 0xE0 ? 0xA0 : 0x80), static_cast<uint8_t>(byte == 0xED ? 0x9F : 0xBF)};
  if (byte >= 0xF0 && byte <= 0xF4)
    return {4, static_cast<uint8_t>(byte == 0xF0 ? 0x90 : 0x80), static_cast<uint8_t>(byte == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

bool IsAscii(std::string_view text) {
  for (const char c : text)
    if (static_cast<uint8_t>(c) >= 0x80) return false;
  return true;
}

// The blocks of Latin letters, their modifiers (superscripts) and full-width forms; the rest of these blocks has few letters.
bool IsLatin(char32_t c) {
  return c <= 0x02FF || (c >= 0x1D00 && c <= 0x1EFF) || (c >= 0x2071 && c <= 0x218F) || (c >= 0x2C60 && c <= 0x2C7F) ||
         (c >= 0xA722 && c <= 0xA7FF) || (c >= 0xAB30 && c <= 0xAB6F) || (c >= 0xFB00 && c <= 0xFB06) ||
         (c >= 0xFF21 && c <= 0xFF5A);
}

bool IsLetter(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

}  // namespace

char32_t NextCodePoint(std::string_view text, size_t* at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte((*at)++);
  if (first < 0x80) return first;
  const Lead lead = ReadLead(first);
  if (lead.length == 0) return kReplacement;
  char32_t code_point = first & (0x7F >> lead.length);
  for (int i = 1; i < lead.length; ++i) {
    const uint8_t low = i == 1 ? lead.second_low : 0x80, high = i == 1 ? lead.second_high : 0xBF;
    if (*at == text.size() || byte(*at) < low || byte(*at) > high) return kReplacement;
    code_point = code_point << 6 | (byte((*at)++) & 0x3F);
  }
  return code_point;
}

void AppendUtf8(char32_t code_point, std::string* out) {
  utf8proc_uint8_t bytes[4];
  const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
}

bool IsSpace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  return property->category == UTF8PROC_CATEGORY_ZS || property->bidi_class == UTF8PROC_BIDI_CLASS_WS ||
         property->bidi_class == UTF8PROC_BIDI_CLASS_B || property->bidi_class == UTF8PROC_BIDI_CLASS_S;
}

std::string ComposedUtf8(std::string_view text) {
  if (IsAscii(text)) return std::string(text);
  std::string valid;  // utf8proc rejects a text with a single broken sequence
  for (size_t at = 0; at < text.size();) AppendUtf8(NextCodePoint(text, &at), &valid);
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()), static_cast<utf8proc_ssize_t>(valid.size()),
                   &composed, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) throw std::bad_alloc();  // the text is valid, so there is no other reason
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  return std::string(reinterpret_cast<const char*>(composed), static_cast<size_t>(size));
}

void Letters::Add(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, &at);
    if (!IsLetter(c)) continue;
    ++all;
    if (IsLatin(c)) continue;
    if (foreign++ == 0) first_foreign = c;
  }
}

}  // namespace backplane::rouge
