#include "command/bare_words.hpp"

#include <algorithm>

namespace backplane {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The length of an optional sign and the following letters.
size_t LengthOfWord(std::string_view text) {
  const bool is_signed = text.starts_with('-') || text.starts_with('+');
  const auto end = std::find_if_not(text.begin() + (is_signed ? 1 : 0), text.end(), IsLetter);
  return static_cast<size_t>(end - text.begin());
}

// The length of a quoted text, which may lack its end.
size_t LengthOfText(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

}  // namespace

bool IsNotFiniteWord(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return word == "nan" || word == "inf" || word == "infinity";
}

std::optional<std::string> WithoutBareWords(std::string_view json) {
  std::string cured;
  bool found = false;
  while (!json.empty()) {
    const bool is_text = json.starts_with('"');
    const size_t length = std::max<size_t>(1, is_text ? LengthOfText(json) : LengthOfWord(json));
    const std::string_view part = json.substr(0, length);
    const bool is_word = !is_text && IsNotFiniteWord(part);
    found = found || is_word;
    cured += is_word ? "null" : part;
    json.remove_prefix(length);
  }
  return found ? std::optional(std::move(cured)) : std::nullopt;
}

}  // namespace backplane
