#include "record/flat_json.hpp"

#include <algorithm>

namespace backplane {
namespace {

using Kind = FlatJson::Kind;

constexpr int kDeepest = 16;
constexpr size_t kMostKeys = 64;  // each is compared with those before it

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

size_t FlatJson::size() const {
  size_t count = 0;
  for (Iterator at = begin(); at != end(); ++at) ++count;
  return count;
}

FlatJson FlatJson::operator[](size_t i) const {
  Iterator at = begin();
  for (; i > 0; --i) ++at;
  return *at;
}

std::vector<std::pair<std::string, FlatJson>> FlatJson::items() const {
  std::vector<std::pair<std::string, FlatJson>> items;
  for (const FlatJson& item : *this) items.emplace_back(item.value().key, item);
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return items;
}

bool FlatJsonReader::Read(std::string_view text) {
  values_.clear();
  at_ = text.data();
  end_ = at_ + text.size();
  if (!ReadValue("", kDeepest)) return false;
  SkipSpace();
  return at_ == end_;
}

bool FlatJsonReader::ReadValue(std::string_view key, int depth) {
  SkipSpace();
  if (at_ == end_ || depth == 0) return false;
  const size_t own = values_.size();
  const char* const begin = at_;
  values_.push_back({.key = key});
  Kind kind = Kind::kNull;
  std::string_view text;
  bool good = true;
  switch (*at_) {
    case 'n': good = TakeWord("null"); break;
    case 't': good = TakeWord("true"), kind = Kind::kBoolean; break;
    case 'f': good = TakeWord("false"), kind = Kind::kBoolean; break;
    case '"': good = ReadText(&text), kind = Kind::kString; break;
    case '[': good = ReadInside(own, false, depth), kind = Kind::kList; break;
    case '{': good = ReadInside(own, true, depth), kind = Kind::kObject; break;
    default: good = ReadNumber(), kind = values_[own].kind; break;
  }
  if (!good) return false;
  values_[own].kind = kind;
  values_[own].source = kind == Kind::kString ? text : std::string_view(begin, static_cast<size_t>(at_ - begin));
  values_[own].end = static_cast<uint32_t>(values_.size());
  return true;
}

// Returns false if there is none.
bool FlatJsonReader::SkipDigits() {
  const char* const begin = at_;
  while (at_ != end_ && IsDigit(*at_)) ++at_;
  return at_ != begin;
}

bool FlatJsonReader::SkipExponent() {
  if (!Take('+')) Take('-');
  return SkipDigits();
}

// JSON's number syntax. A number out of range, or an integer that only a float could represent, is left to nlohmann.
bool FlatJsonReader::ReadNumber() {
  const char* const begin = at_;
  const bool negative = Take('-');
  const char* const digits = at_;
  if (!SkipDigits() || (*digits == '0' && at_ - digits > 1)) return false;
  const bool has_fraction = Take('.');
  if (has_fraction && !SkipDigits()) return false;
  const bool has_exponent = Take('e') || Take('E');
  if (has_exponent && !SkipExponent()) return false;
  const bool is_float = has_fraction || has_exponent;
  const auto fits = [&](auto number) { return std::from_chars(begin, at_, number).ec == std::errc(); };
  values_.back().kind = is_float ? Kind::kFloat : negative ? Kind::kInteger : Kind::kUnsigned;
  return is_float ? fits(0.0) : negative ? fits(int64_t{}) : fits(uint64_t{});
}

bool FlatJsonReader::ReadText(std::string_view* text) {
  const char* const begin = ++at_;
  while (at_ != end_ && *at_ != '"') {
    const auto byte = static_cast<unsigned char>(*at_++);
    if (byte < 0x20 || byte > 0x7e || byte == '\\') return false;
  }
  if (at_ == end_) return false;
  *text = {begin, static_cast<size_t>(at_++ - begin)};
  return true;
}

bool FlatJsonReader::ReadInside(size_t at, bool is_object, int depth) {
  const char close = is_object ? '}' : ']';
  ++at_;
  SkipSpace();
  if (Take(close)) return true;
  do {
    std::string_view key;
    SkipSpace();
    if (is_object && (at_ == end_ || *at_ != '"' || !ReadText(&key))) return false;
    SkipSpace();
    if (is_object && !Take(':')) return false;
    size_t before = 0;
    for (size_t i = at + 1; is_object && i < values_.size(); i = values_[i].end)
      if (values_[i].key == key || ++before == kMostKeys) return false;
    if (!ReadValue(key, depth - 1)) return false;
    SkipSpace();
  } while (Take(','));
  return Take(close);
}

bool FlatJsonReader::Take(char c) {
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

bool FlatJsonReader::TakeWord(std::string_view word) {
  if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void FlatJsonReader::SkipSpace() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
}

}  // namespace backplane
