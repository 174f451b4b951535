// JSON read without an allocation per value, for files of many small records: what stands in it is looked at where it stands.
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

// A value of a document, with those of nlohmann::json's functions that record/fields.hpp asks for.
class FlatJson {
 public:
  enum class Kind : uint8_t { kNull = 1, kBoolean, kUnsigned, kInteger, kFloat, kString, kList, kObject };
  // All of them stand in one list, each followed by what is in it.
  struct Value {
    Kind kind = Kind::kNull;
    uint32_t end = 0;         // one past the last that is in it
    std::string_view key;     // in an object
    std::string_view source;  // as it stands there; of a string without its quotes
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

  // Of a value that is one.
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

  // What is in a list or an object, in its order.
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

// Reads one document after the other, with the memory of those before.
class FlatJsonReader {
 public:
  // False: it is no JSON or more than this reader knows: deeper than a record is, with a key given twice, an escape or a byte
  // above 127 in a text, or a number that does not fit. nlohmann::json reads all that, or says what is wrong. The text has to
  // outlive what is made of it.
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
