#include "text/units.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace backplane {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kDurationUnits[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}};  // largest first
constexpr Unit kSizeUnits[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"TB", 1e12},
                               {"GB", 1e9},     {"MB", 1e6},     {"kB", 1e3},     {"KB", 1e3},     {"B", 1}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsDigit(text[n])) ++n;
  return n;
}

// Length of a plain decimal number ("12", "1.5", ".5") at the front of `text`; 0: none.
size_t DecimalLength(std::string_view text) {
  size_t whole = CountDigits(text);
  if (whole >= text.size() || text[whole] != '.') return whole;
  size_t fraction = CountDigits(text.substr(whole + 1));
  return whole + fraction == 0 ? 0 : whole + 1 + fraction;
}

template <size_t N>
const Unit* FindUnit(const Unit (&units)[N], std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

std::optional<double> ToDouble(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// The shortest decimal number that reads back the same, without an exponent.
std::string Plain(double value) {
  std::array<char, 512> buffer;
  auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return std::string(buffer.data(), error == std::errc() ? end : buffer.data());
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && IsDigit(text[1])) text.remove_prefix(1);
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  size_t length = DecimalLength(rest);
  if (length == 0) return std::nullopt;
  rest.remove_prefix(length);
  if (!rest.empty() && rest[0] != 'e' && rest[0] != 'E') return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  return ToDouble(text);
}

std::optional<int64_t> ParseWholeNumber(std::string_view text) {
  constexpr double kMostExact = 1LL << 53;
  const std::optional<double> number = ParseNumber(text);
  if (!number || std::abs(*number) > kMostExact || *number != std::floor(*number)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<double> ParseDuration(std::string_view text) {
  double seconds = 0;
  const Unit* previous = nullptr;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    size_t length = DecimalLength(text), name = length;
    while (name < text.size() && !IsDigit(text[name]) && text[name] != '.') ++name;
    const Unit* unit = FindUnit(kDurationUnits, text.substr(length, name - length));
    std::optional<double> number = ToDouble(text.substr(0, length));
    if (!unit || !number || (previous && unit <= previous)) return std::nullopt;
    seconds += *number * unit->factor;
    previous = unit;
    text.remove_prefix(name);
  }
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  size_t length = DecimalLength(text);
  const Unit* unit = FindUnit(kSizeUnits, text.substr(length));
  std::string_view number = text.substr(0, length);
  if (!unit || number.empty()) return std::nullopt;
  if (CountDigits(number) == length) {  // whole numbers stay exact beyond 2^53
    uint64_t count = 0, bytes = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + length, count);
    if (error != std::errc() || __builtin_mul_overflow(count, static_cast<uint64_t>(unit->factor), &bytes)) return std::nullopt;
    return bytes;
  }
  std::optional<double> value = ToDouble(number);
  if (!value || *value * unit->factor >= 0x1p64) return std::nullopt;
  return static_cast<uint64_t>(std::llround(*value * unit->factor));
}

std::optional<double> ParsePercent(std::string_view text) {
  const size_t length = DecimalLength(text);
  return length > 0 && text.substr(length) == "%" ? ToDouble(text.substr(0, length)) : std::nullopt;
}

std::string FormatDuration(double seconds) { return Plain(seconds) + "s"; }

std::string FormatPercent(double percent) { return Plain(percent) + "%"; }

std::string FormatSize(uint64_t bytes) {
  for (const Unit& unit : kSizeUnits) {
    if (!unit.name.ends_with("iB")) break;
    auto factor = static_cast<uint64_t>(unit.factor);
    if (bytes > 0 && bytes % factor == 0) return std::to_string(bytes / factor) + std::string(unit.name);
  }
  return std::to_string(bytes) + "B";
}

}  // namespace backplane
