// Enums that files and screens show as words. A function next to each enum defines its words:
//
//   enum class Fruit { kApple = 1, kPear };
//   constexpr auto WordsOf(Fruit) { return std::to_array<WordOf<Fruit>>({{Fruit::kApple, "apple"}, {Fruit::kPear, "pear"}}); }
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

template <class E>
struct WordOf {
  E value;
  const char* word;
};

template <class E>
concept HasWords = requires(E value) {
  WordsOf(value);
};

template <HasWords E>
constexpr const char* Word(E value) {
  for (const auto& [one, word] : WordsOf(value))
    if (one == value) return word;
  return "";
}

// Empty without a value.
template <HasWords E>
constexpr const char* Word(std::optional<E> value) {
  return value ? Word(*value) : "";
}

template <HasWords E>
constexpr std::optional<E> FromWord(std::string_view text) {
  for (const auto& [one, word] : WordsOf(E{}))
    if (word == text) return one;
  return std::nullopt;
}

// "PLANNED, RUNNING, ..."
template <HasWords E>
std::string ListOfWords() {
  std::string list;
  for (const auto& one : WordsOf(E{})) list += (list.empty() ? "" : ", ") + std::string(one.word);
  return list;
}

}  // namespace backplane
