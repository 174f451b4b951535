// The types of options: reads values from the host and writes defaults. Part of options.hpp.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/errors.hpp"
#include "backplane/module.h"

namespace bp {

// The options of an instance from the host, by path. Throws bp::Error for a path that the table does not declare or that has a
// different type.
class Config {
 public:
  explicit Config(const bp_config* config) : config_(config) {}

  double F64(const char* path) const {
    double value = 0;
    Check(config_->f64(config_, path, &value), path, "a number");
    return value;
  }
  int64_t I64(const char* path) const {
    int64_t value = 0;
    Check(config_->i64(config_, path, &value), path, "an integer or a boolean");
    return value;
  }
  // For an option whose range includes words, such as "auto|[1,)": empty for a word.
  std::optional<double> F64OrWord(const char* path) const {
    double value = 0;
    if (config_->f64(config_, path, &value) == BP_OK) return value;
    return Str(path), std::nullopt;
  }
  std::optional<int64_t> I64OrWord(const char* path) const {
    int64_t value = 0;
    if (config_->i64(config_, path, &value) == BP_OK) return value;
    return Str(path), std::nullopt;
  }
  std::string Str(const char* path) const {
    const char* value = nullptr;
    Check(config_->str(config_, path, &value), path, "a text");
    return value;
  }
  std::vector<double> List(const char* path) const {
    uint64_t n = 0;
    Check(config_->list(config_, path, 0, nullptr, &n), path, "a list");
    std::vector<double> values(n);
    Check(config_->list(config_, path, n, values.data(), &n), path, "a list");
    return values;
  }
  // The place that sets the option, for messages.
  std::string Where(const char* path) const { return config_->where(config_, path); }
  bool IsSet(const char* path) const { return Where(path) != "default"; }

 private:
  static void Check(bp_status status, const char* path, const char* kind) {
    if (status != BP_OK) throw Error(BP_E_INTERNAL, std::string("option '") + path + "' is not declared as " + kind);
  }
  const bp_config* config_;
};

// A word of an enum option; WordsOf(E) returns all of them.
template <class E>
struct Word {
  const char* word;
  E value;
};
template <class E, size_t N>
constexpr std::array<Word<E>, N> Words(const Word<E> (&words)[N]) {
  return std::to_array(words);
}

namespace detail {
constexpr std::array<Word<bool>, 2> WordsOf(bool) { return {{{"true", true}, {"false", false}}}; }

template <class E>
concept HasWords = (std::is_enum_v<E> || std::same_as<E, bool>)&&requires(E e) {
  WordsOf(e);
};
template <HasWords E>
std::string JoinedWords() {
  std::string text;
  for (const Word<E>& each : WordsOf(E{})) text += (text.empty() ? "" : "|") + std::string(each.word);
  return text;
}
template <HasWords E>
std::optional<E> ValueOf(const std::string& word) {
  for (const Word<E>& each : WordsOf(E{}))
    if (word == each.word) return each.value;
  return std::nullopt;
}
}  // namespace detail

// "?" for a value without a word; sealing the plugin rejects it as outside the range.
template <detail::HasWords E>
std::string WordOf(E value) {
  using detail::WordsOf;
  for (const Word<E>& each : WordsOf(E{}))
    if (each.value == value) return each.word;
  return "?";
}

// A mapping or a list of any form, with "mapping" or "list" as its range: JSON text for the plugin to parse.
struct AnyValue {
  std::string json = "{}";
};

namespace detail {

// Values as YAML text.
template <std::integral T>
std::string YamlText(T value) {
  if constexpr (std::same_as<T, bool>) return value ? "true" : "false";
  return std::to_string(value);
}
// Shortest text that round-trips, with a dot if YAML 1.1 requires one for a number: "5.0e-7".
inline std::string YamlText(double value) {
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general).ptr);
  const size_t e = text.find('e');
  if (e == std::string::npos) return text;
  if (text[e + 2] == '0') text.erase(e + 2, 1);
  return text.find('.') == std::string::npos ? text.insert(e, ".0") : text;
}
inline std::string YamlText(const std::string& value) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  if (!value.empty() && value.find_first_not_of(kPlain) == std::string::npos) return value;
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? "''" : std::string(1, c);
  return text + "'";
}
template <class T>
std::string YamlText(const std::vector<T>& values) {
  std::string text;
  for (const T value : values) text += (text.empty() ? "" : ", ") + YamlText(value);
  return "[" + text + "]";
}

inline std::string FirstWord(const bp_param& row) {
  const std::string_view range = row.range ? row.range : "";
  return std::string(range.substr(0, range.find('|')));
}

// A member of type M as an option: kType, its default as YAML text, and its value.
template <class M>
struct OptionKind {
  static_assert(!std::is_enum_v<M>, "an enum that is an option needs its words: constexpr auto WordsOf(E) next to it");
  static_assert(std::is_enum_v<M>,
                "an option is a double, an integer, a bool, a std::string, a std::filesystem::path, an enum with words, a "
                "std::vector of double or int64_t, a bp::AnyValue, or a std::optional of double, int64_t, bool or an enum");
  static constexpr uint16_t kType = 0;
};
template <>
struct OptionKind<double> {
  static constexpr uint16_t kType = BP_PARAM_F64;
  static std::string Text(double value, const bp_param&) { return YamlText(value); }
  static double Read(const Config& config, const char* path) { return config.F64(path); }
};
template <std::integral M>
struct OptionKind<M> {
  static constexpr uint16_t kType = std::same_as<M, bool> ? BP_PARAM_BOOL : BP_PARAM_I64;
  static std::string Text(M value, const bp_param&) { return YamlText(value); }
  static M Read(const Config& config, const char* path) {
    const int64_t value = config.I64(path);
    if constexpr (!std::same_as<M, bool>) {
      if (!std::in_range<M>(value)) throw ConfigError(std::string(path) + ": " + std::to_string(value) + " does not fit");
    }
    return static_cast<M>(value);
  }
};
template <>
struct OptionKind<std::string> {
  static constexpr uint16_t kType = BP_PARAM_STR;
  static std::string Text(const std::string& value, const bp_param&) { return YamlText(value); }
  static std::string Read(const Config& config, const char* path) { return config.Str(path); }
};
template <>
struct OptionKind<std::filesystem::path> {
  static constexpr uint16_t kType = BP_PARAM_PATH;
  static std::string Text(const std::filesystem::path& value, const bp_param&) { return YamlText(value.string()); }
  static std::filesystem::path Read(const Config& config, const char* path) { return config.Str(path); }
};
template <>
struct OptionKind<AnyValue> {
  static constexpr uint16_t kType = BP_PARAM_ANY;
  static std::string Text(const AnyValue& value, const bp_param&) { return value.json; }  // JSON is YAML
  static AnyValue Read(const Config& config, const char* path) { return {config.Str(path)}; }
};
template <class T>
requires std::same_as<T, double> || std::same_as<T, int64_t>
struct OptionKind<std::vector<T>> {
  static constexpr uint16_t kType = std::same_as<T, double> ? BP_PARAM_F64_LIST : BP_PARAM_I64_LIST;
  static std::string Text(const std::vector<T>& value, const bp_param&) { return YamlText(value); }
  static std::vector<T> Read(const Config& config, const char* path) {
    std::vector<T> values;
    for (const double value : config.List(path)) values.push_back(static_cast<T>(value));
    return values;
  }
};
// An empty optional stands for the first word of the range.
template <class T>
requires std::same_as<T, double> || std::same_as<T, int64_t>
struct OptionKind<std::optional<T>> {
  static constexpr uint16_t kType = OptionKind<T>::kType;
  static std::string Text(const std::optional<T>& value, const bp_param& row) {
    return value ? YamlText(*value) : FirstWord(row);
  }
  static std::optional<T> Read(const Config& config, const char* path) {
    if constexpr (std::same_as<T, double>)
      return config.F64OrWord(path);
    else
      return config.I64OrWord(path);
  }
};
template <HasWords E>
requires std::is_enum_v<E>
struct OptionKind<E> {
  static constexpr uint16_t kType = BP_PARAM_ENUM;
  static std::string Range() { return JoinedWords<E>(); }
  static std::string Text(E value, const bp_param&) { return WordOf(value); }
  static E Read(const Config& config, const char* path) {
    const std::string word = config.Str(path);
    if (const std::optional<E> value = ValueOf<E>(word)) return *value;
    throw Error(BP_E_INTERNAL, std::string("option '") + path + "' has no word '" + word + "'");
  }
};
// An empty optional stands for the word `auto`.
template <HasWords E>
struct OptionKind<std::optional<E>> {
  static constexpr uint16_t kType = BP_PARAM_ENUM;
  static std::string Range() { return "auto|" + JoinedWords<E>(); }
  static std::string Text(std::optional<E> value, const bp_param&) { return value ? WordOf(*value) : "auto"; }
  static std::optional<E> Read(const Config& config, const char* path) { return ValueOf<E>(config.Str(path)); }
};

}  // namespace detail

}  // namespace bp
