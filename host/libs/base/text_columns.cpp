#include "base/text_columns.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <sstream>

namespace backplane {
namespace {

struct Glyph {
  size_t bytes, cells;
};

// An invalid byte is a character of one cell; a combining accent has none.
Glyph GlyphAt(const std::string& text, size_t at) {
  utf8proc_int32_t code = -1;
  const auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
  const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at, left, &code);
  if (bytes <= 0) return {1, 1};
  const int cells = code < 0x80 ? 1 : utf8proc_charwidth(code);
  return {static_cast<size_t>(bytes), static_cast<size_t>(std::max(cells, 0))};
}

// The first `head` and the last `tail` columns around the mark; a wide character that does not fit is left out.
std::string Cut(const std::string& text, size_t head, size_t tail, const std::string& mark) {
  size_t rest = BytesWithin(text, Columns(text) - tail);
  while (Columns(text.substr(rest)) > tail) rest += GlyphAt(text, rest).bytes;
  return text.substr(0, BytesWithin(text, head)) + mark + text.substr(rest);
}

// A mean and its interval, "12.3 ± 4.5", are one word.
std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  bool joins = false;
  for (std::string word; in >> word;) {
    const bool is_sign = word == "±";
    if (!words.empty() && (joins || is_sign)) {
      words.back() += " " + word;
    } else {
      words.push_back(word);
    }
    joins = is_sign;
  }
  return words;
}

}  // namespace

size_t Columns(const std::string& text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Glyph next = GlyphAt(text, at);
    at += next.bytes, columns += next.cells;
  }
  return columns;
}

size_t BytesWithin(const std::string& text, size_t columns) {
  size_t at = 0;
  for (size_t used = 0; at < text.size();) {
    const Glyph next = GlyphAt(text, at);
    used += next.cells;
    if (used > columns) break;
    at += next.bytes;
  }
  return at;
}

std::string PadRight(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, Columns(text)), ' ');
}

std::string PadLeft(const std::string& text, size_t width) {
  return std::string(width - std::min(width, Columns(text)), ' ') + text;
}

std::string CutMiddle(const std::string& text, size_t width, bool utf8) {
  if (Columns(text) <= width) {
    return text;
  }
  const std::string mark = utf8 ? "…" : std::string("...").substr(0, width);
  const size_t kept = width - std::min(width, Columns(mark));
  return width == 0 ? "" : Cut(text, kept - kept / 2, kept / 2, mark);
}

std::string CutEnd(const std::string& text, size_t width, bool utf8) {
  if (Columns(text) <= width) {
    return text;
  }
  const std::string mark = utf8 ? "…" : std::string("...").substr(0, width);
  return width == 0 ? "" : Cut(text, width - std::min(width, Columns(mark)), 0, mark);
}

std::string CutName(const std::string& name, size_t width, bool utf8) {
  constexpr size_t kLongestKey = 40, kShortestKey = 3, kWholeKey = 4;  // "seed" is never cut
  std::string shortened = name;
  for (size_t length = kLongestKey; Columns(shortened) > width && length >= kShortestKey; --length) {
    std::istringstream words(name);
    shortened.clear();
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      shortened += shortened.empty() ? "" : " ";
      const std::string key = word.substr(0, equals);
      const bool is_cut = equals != std::string::npos && Columns(key) > kWholeKey;
      shortened += is_cut ? CutMiddle(key, length, utf8) + word.substr(equals) : word;
    }
  }
  return CutMiddle(Columns(shortened) <= width ? shortened : name, width, utf8);
}

std::vector<std::string> WrapWords(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : WordsOf(text)) {
    if (!lines.empty() && Columns(lines.back()) + 1 + Columns(word) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string WrapAfter(const std::string& first, const std::string& next, const std::string& text, size_t width) {
  std::string lines;
  for (const std::string& line : WrapWords(text, width)) lines += (lines.empty() ? first : next) + line + "\n";
  return lines;
}

}  // namespace backplane
