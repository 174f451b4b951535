// Reads JSON without an allocation per value, for files of many small records. Values refer to the text.
#pragma once

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace backplane {

// A value of a document, with the functions of nlohmann::json that record/fields.hpp uses.
class FlatJson {
 public:
  enum class Kind : uint8_t { kNull = 1, kBoolean, kUnsigned, kInteger, kFloat, kString, kList, kObject };
  // One list holds all values; a container is followed by its content.
  struct Value {
    Kind kind = Kind::kNull;
    uint32_t end = 0;         // index after its content
    std::string_view key;     // in an object
    std::string_view source;  // the text of the value, without the quotes of a string
  };

  FlatJson(const std::vector<Value>* values, size_t at) : values_(values), at_(at) {}

  bool is_null() const { return value().kind == Kind::kNull; }
  bool is_boolean() const { return value().kind == Kind::kBoolean; }
  bool is_string() const { return value().kind == Kind::kString; }
  bool is_array() const { return value().kind == Kind::kList; }
  bool is_object() const { return value().kind == Kind::kObject; }
  bool is_structured() const { return is_array() || is_object(); }
  bool is_number_unsigned() const { return value().kind == Kind::kUnsigned; }
  bool is_number_integer() const { return is_number_unsigned() || value().kind == Kind::kInteger; }
  bool is_number() const { return is_number_integer() || value().kind == Kind::kFloat; }

  // Requires a scalar of a matching kind.
  template <class T>
  T get() const {
    const std::string_view text = value().source;
    if constexpr (std::is_same_v<T, std::string>) {
      return std::string(text);
    } else if constexpr (std::is_same_v<T, bool>) {
      return text == "true";
    } else {
      T number{};
      std::from_chars(text.data(), text.data() + text.size(), number);
      return number;
    }
  }
  // NOLINTNEXTLINE(google-explicit-constructor): as a value of nlohmann's is one
  operator nlohmann::json() const {
    return is_string() ? nlohmann::json(get<std::string>()) : nlohmann::json::parse(value().source);
  }

  // Iterates over the content of a list or an object, in order.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;
  Iterator find(std::string_view key) const;
  bool empty() const { return value().end == at_ + 1; }
  size_t size() const;
  FlatJson operator[](size_t i) const;
  // By their keys, as nlohmann::json has them.
  std::vector<std::pair<std::string, FlatJson>> items() const;
  using error_handler_t = nlohmann::json::error_handler_t;
  std::string dump(int, char, bool, error_handler_t) const { return std::string(value().source); }

 private:
  const Value& value() const { return (*values_)[at_]; }

  const std::vector<Value>* values_;
  size_t at_;
};

class FlatJson::Iterator {
 public:
  explicit Iterator(FlatJson json) : json_(json) {}
  bool operator==(const Iterator& other) const { return json_.at_ == other.json_.at_; }
  const FlatJson& operator*() const { return json_; }
  const FlatJson* operator->() const { return &json_; }
  Iterator& operator++() {
    json_.at_ = json_.value().end;
    return *this;
  }

 private:
  FlatJson json_;
};

inline FlatJson::Iterator FlatJson::begin() const { return Iterator({values_, at_ + 1}); }
inline FlatJson::Iterator FlatJson::end() const { return Iterator({values_, value().end}); }
inline FlatJson::Iterator FlatJson::find(std::string_view key) const {
  Iterator found = begin();
  while (found != end() && found->value().key != key) ++found;
  return found;
}

// Reads one document after another and reuses the memory.
class FlatJsonReader {
 public:
  // Returns false for invalid JSON and for anything beyond this reader: nesting deeper than a record, duplicate keys, escapes
  // or bytes above 127 in strings, numbers out of range. nlohmann::json reads these, or reports the error. The text must
  // outlive the values.
  bool Read(std::string_view text);
  FlatJson root() const { return {&values_, 0}; }

 private:
  bool ReadValue(std::string_view key, int depth);
  bool ReadNumber();
  bool SkipDigits();
  bool SkipExponent();
  bool ReadText(std::string_view* text);
  bool ReadInside(size_t at, bool is_object, int depth);
  bool Take(char c);
  bool TakeWord(std::string_view word);
  void SkipSpace();

  std::vector<FlatJson::Value> values_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace backplane
