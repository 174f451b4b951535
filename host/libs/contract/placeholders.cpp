#include "contract/placeholders.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace backplane {
namespace {

// A piece of a word: literal text, or a placeholder's name.
struct Piece {
  bool placeholder = false;
  std::string text;
};

bool IsPlaceholderName(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
}

std::optional<std::vector<Piece>> PiecesOf(std::string_view word, std::string* why_not) {
  std::vector<Piece> pieces(1);
  for (size_t at = 0; at < word.size(); ++at) {
    const char c = word[at];
    const bool doubled = at + 1 < word.size() && word[at + 1] == c;
    if ((c != '{' && c != '}') || doubled) {
      pieces.back().text += c;
      at += c == '{' || c == '}' ? 1 : 0;
      continue;
    }
    const size_t end = c == '{' ? word.find('}', at) : word.npos;
    const std::string_view name = end == word.npos ? "" : word.substr(at + 1, end - at - 1);
    if (!IsPlaceholderName(name)) {
      *why_not = fmt::format(
          "expected a placeholder such as {{seed}} or {{lr}} in '{}', got a single '{}'; write a literal brace as '{}{}'", word,
          c, c, c);
      return std::nullopt;
    }
    pieces.push_back({true, std::string(name)});
    pieces.emplace_back();
    at = end;
  }
  return pieces;
}

}  // namespace

bool ChoosesLearner(std::string_view path) {
  return path == "learner" || path == "learner.plugin" || path == kCommandLearner || path == kFunctionLearner;
}

bool IsHostPlaceholder(std::string_view name) {
  return std::find(kHostPlaceholders.begin(), kHostPlaceholders.end(), name) != kHostPlaceholders.end();
}

std::optional<std::vector<std::string>> PlaceholdersIn(std::string_view word, std::string* why_not) {
  const auto pieces = PiecesOf(word, why_not);
  if (!pieces) return std::nullopt;
  std::vector<std::string> names;
  for (const Piece& piece : *pieces)
    if (piece.placeholder) names.push_back(piece.text);
  return names;
}

std::string FillPlaceholders(std::string_view word, const std::function<std::string(const std::string& name)>& value_of) {
  std::string why_not, text;
  for (const Piece& piece : PiecesOf(word, &why_not).value_or(std::vector<Piece>()))
    text += piece.placeholder ? value_of(piece.text) : piece.text;
  return text;
}

std::string PlainWord(std::string_view word) {
  std::string why_not;
  const auto pieces = PiecesOf(word, &why_not);
  return pieces && pieces->size() == 1 ? pieces->front().text : "";
}

}  // namespace backplane
