#include "text/format_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/format_count.hpp"

namespace backplane {
namespace {

constexpr double kLargestInFull = 1e9, kSmallestInFull = 1e-4;
constexpr int kHalfWidthDigits = 3;
constexpr double kUneven = 0.25;  // by how much of their mean the two sides of an interval differ

int DecimalsFor(double magnitude, int digits) {
  return magnitude > 0 ? std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(magnitude)))) : 0;
}

// The number of decimals in the shortest representation, at most `most`.
int OwnDecimals(double value, int most) {
  const std::string shortest = fmt::format("{}", value);
  const size_t point = shortest.find('.');
  if (shortest.find('e') != std::string::npos) {
    return most;
  }
  return point == std::string::npos || shortest.ends_with(".0") ? 0
                                                                : std::min(most, static_cast<int>(shortest.size() - point - 1));
}

std::string Fixed(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", std::fabs(value), decimals);
  const size_t point = std::min(text.find('.'), text.size());
  uint64_t whole = 0;
  std::from_chars(text.data(), text.data() + point, whole);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !is_zero ? "-" : "") + FormatCount(whole) + text.substr(point);
}

// "1.2e9": no zeros at the mantissa's end, no padding in the exponent.
std::string Scientific(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    mantissa.erase(mantissa.find_last_not_of('.') + 1);
  }
  int exponent = 0;
  const char* first = text.data() + e + 1;
  std::from_chars(first + (*first == '+' ? 1 : 0), text.data() + text.size(), exponent);
  return fmt::format("{}e{}", mantissa, exponent);
}

bool IsInFull(double magnitude) { return magnitude == 0 || (magnitude >= kSmallestInFull && magnitude < kLargestInFull); }

// True for a wide log-scale interval: a symmetric one would extend beyond it, even below zero.
bool IsUneven(const Number& number) {
  if (!number.low || !number.high || !std::isfinite(*number.low) || !std::isfinite(*number.high)) return false;
  const double above = *number.high - number.value, below = number.value - *number.low;
  return std::fabs(above - below) > kUneven * (above + below) / 2;
}

FormattedNumber WithBounds(const Number& number, int digits) {
  const double width = *number.high - *number.low, widest = std::max(std::fabs(*number.low), std::fabs(*number.high));
  const double magnitude = number.value == 0 ? widest : std::fabs(number.value);  // a rate of 0 has an interval, too
  const int decimals = std::min(DecimalsFor(magnitude, digits), DecimalsFor(width, kHalfWidthDigits));
  const bool in_full = IsInFull(std::fabs(number.value)) && IsInFull(widest);
  const auto text = [&](double value) { return in_full ? Fixed(value, decimals) : Scientific(value, digits); };
  return {text(number.value), fmt::format("({} to {})", text(*number.low), text(*number.high))};
}

}  // namespace

FormattedNumber FormatParts(const Number& number, int digits) {
  digits = std::max(1, digits);
  if (!std::isfinite(number.value)) {
    return {"NaN", ""};
  }
  const double value = number.value;
  if (IsUneven(number)) return WithBounds(number, digits);
  const double half = number.low && number.high ? (*number.high - *number.low) / 2 : NAN;
  if (!(half > 0 && std::isfinite(half))) {
    const double magnitude = std::fabs(value);
    return {
        IsInFull(magnitude) ? Fixed(value, OwnDecimals(magnitude, DecimalsFor(magnitude, digits))) : Scientific(value, digits),
        half == 0 ? "± 0" : ""};
  }
  const double magnitude = std::max(std::fabs(value), half);
  if (!IsInFull(magnitude)) {
    return {Scientific(value, digits), "± " + Scientific(half, kHalfWidthDigits)};
  }
  // No more decimals than three digits of the uncertainty carry.
  const int decimals = std::min(DecimalsFor(magnitude, digits), DecimalsFor(half, kHalfWidthDigits));
  const bool vanishes = half < 0.5 * std::pow(10.0, -decimals);
  return {Fixed(value, decimals), "± " + (!vanishes        ? Fixed(half, decimals)
                                          : IsInFull(half) ? Fixed(half, DecimalsFor(half, 1))
                                                           : Scientific(half, 1))};
}

std::string FormatNumber(const Number& number, int digits) {
  const FormattedNumber parts = FormatParts(number, digits);
  return parts.interval.empty() ? parts.value : parts.value + " " + parts.interval;
}

}  // namespace backplane
