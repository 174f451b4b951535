#include "text/text_lines.hpp"

#include <algorithm>

#include "base/text_columns.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

// Words as a shell splits them, quotes kept.
std::vector<std::string> ShellWords(const std::string& command) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      words.back() += c;
      words.back() += command[++i];
      continue;
    }
    quote = quote == 0 && (c == '"' || c == '\'') ? c : c == quote ? 0 : quote;
    if (c == ' ' && quote == 0) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  words.erase(std::remove(words.begin(), words.end(), ""), words.end());
  return words;
}

}  // namespace

std::vector<std::string> Fold(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  for (std::string line : WrapWords(OneLine(text), width)) {
    while (Columns(line) > width) {
      const size_t bytes = std::max<size_t>(BytesWithin(line, width), 1);  // a wide character on a page of one column
      lines.push_back(line.substr(0, bytes));
      line.erase(0, bytes);
    }
    lines.push_back(line);
  }
  return lines;
}

std::string Hanging(const std::string& head, const std::string& text, size_t width) {
  const size_t indent = Columns(head);
  std::string lines;
  for (const std::string& line : Fold(text, width - std::min(width - 1, indent))) {
    lines += (lines.empty() ? head : std::string(indent, ' ')) + line + "\n";
  }
  return lines.empty() ? head + "\n" : lines;
}

std::string FoldCommand(const std::string& command, const std::string& indent, size_t width) {
  constexpr size_t kMore = 2;  // " \" at the end
  std::string text, line = indent;
  for (const std::string& word : ShellWords(OneLine(command))) {
    const bool is_first = line == indent;
    if (!is_first && Columns(line) + 1 + Columns(word) + kMore > width) {
      text += line + " \\\n";
      line = indent + "  " + word;
    } else {
      line += (is_first ? "" : " ") + word;
    }
  }
  return text + line + "\n";
}

}  // namespace backplane
