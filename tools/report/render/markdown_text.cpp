#include "render/markdown_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "text/text_lines.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }

size_t LongestRunOfBackticks(const std::string& text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// True if Markdown would interpret the character here: it ignores "_" within a word and "&" before a blank.
bool IsSpecial(const std::string& text, size_t at) {
  const char c = text[at];
  const char before = at > 0 ? text[at - 1] : ' ', after = at + 1 < text.size() ? text[at + 1] : ' ';
  if (c == '_') {
    return !IsWordCharacter(before) || !IsWordCharacter(after);
  }
  if (c == '&') {
    return IsWordCharacter(after) || after == '#';
  }
  return std::strchr("\\`*[]<>|~$", c) != nullptr;
}

// Characters that would start a list, heading or quotation.
bool IsSpecialAtStart(const std::string& text, size_t at) {
  const char after = at + 1 < text.size() ? text[at + 1] : ' ';
  if (at == 0) {
    return std::strchr("#-+=", text[0]) != nullptr && (after == ' ' || after == text[0]);
  }
  const bool follows_digits = text.find_first_not_of("0123456789") == at;
  return follows_digits && (text[at] == '.' || text[at] == ')') && after == ' ';
}

}  // namespace

std::string MarkdownText(const std::string& text) {
  std::string line = OneLine(text);
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  std::string escaped;
  for (size_t i = 0; i < line.size(); ++i) {
    escaped += (IsSpecial(line, i) || IsSpecialAtStart(line, i) ? "\\" : "") + std::string(1, line[i]);
  }
  return escaped;
}

std::string MarkdownCode(const std::string& text) {
  const std::string quote(LongestRunOfBackticks(text) + 1, '`');
  const std::string space = quote.size() > 1 ? " " : "";
  return quote + space + OneLine(text) + space + quote;
}

std::string MarkdownFence(const std::string& language, const std::string& text) {
  const std::string fence(std::max<size_t>(3, LongestRunOfBackticks(text) + 1), '`');
  return fence + OneLine(language) + "\n" + text + (text.ends_with("\n") ? "" : "\n") + fence + "\n";
}

}  // namespace backplane
