#include "base/text_columns.hpp"

#include <algorithm>
#include <sstream>

namespace backplane {
namespace {

bool BeginsCharacter(char c) { return (c & 0xC0) != 0x80; }

// Byte at which character number `index` begins.
size_t ByteOf(const std::string& text, size_t index) {
  for (size_t byte = 0; byte < text.size(); ++byte) {
    if (BeginsCharacter(text[byte]) && index-- == 0) {
      return byte;
    }
  }
  return text.size();
}

// The first `head` and the last `tail` characters around the mark.
std::string Cut(const std::string& text, size_t head, size_t tail, const std::string& mark) {
  return text.substr(0, ByteOf(text, head)) + mark + text.substr(ByteOf(text, Columns(text) - tail));
}

}  // namespace

size_t Columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
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
  constexpr size_t kLongestKey = 40, kShortestKey = 4;
  std::string shortened = name;
  for (size_t length = kLongestKey; Columns(shortened) > width && length >= kShortestKey; --length) {
    std::istringstream words(name);
    shortened.clear();
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      shortened += shortened.empty() ? "" : " ";
      shortened += equals == std::string::npos ? word : CutMiddle(word.substr(0, equals), length, utf8) + word.substr(equals);
    }
  }
  return CutMiddle(Columns(shortened) <= width ? shortened : name, width, utf8);
}

std::vector<std::string> WrapWords(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
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
