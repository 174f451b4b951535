#include "figures/axis_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "figures/figure_text.hpp"

namespace backplane {
namespace {

// Beyond these, differences and steps leave the range of double.
constexpr double kLargest = 1e300;
constexpr double kSmallestSpan = 1e-290;
constexpr double kSmallestRelativeSpan = 1e-9;  // below it labels would need more digits than they have room for

std::string Superscript(int exponent) {
  constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

int DecimalExponent(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-9)); }

// 12,000 or 1.2×10⁷, with the decimals that tell neighbours `step` apart.
std::string NumberText(double value, double step, double largest) {
  const int step_exponent = DecimalExponent(step), exponent = DecimalExponent(largest);
  if (value == 0) return "0";
  if (exponent < 6 && exponent > -4) return GroupedNumber(value, std::max(0, -step_exponent));
  const double mantissa = exponent < -300 ? value * 1e300 / std::pow(10.0, exponent + 300) : value / std::pow(10.0, exponent);
  return GroupedNumber(mantissa, std::max(0, exponent - step_exponent)) + "×10" + Superscript(exponent);
}

std::vector<Tick> LinearTicks(double low, double high, int most) {
  const double rough = (high - low) / most;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  std::vector<Tick> ticks;
  const double largest = std::max(std::abs(low), std::abs(high));
  for (double count = std::ceil(low / step - 1e-9); count * step <= high + step * 1e-9; ++count) {
    const double value = count == 0 ? 0 : count * step;
    ticks.push_back({value, NumberText(value, step, largest)});
  }
  return ticks;
}

std::vector<Tick> PowerTicks(const AxisFrame& frame, int most) {
  const int first = static_cast<int>(std::ceil(frame.OnScale(frame.low) - 1e-9));
  const int last = static_cast<int>(std::floor(frame.OnScale(frame.high) + 1e-9));
  if (last - first < 1) return {};
  const int stride = (last - first) / most + 1;
  const bool twos = frame.scale == Scale::kLog2;
  std::vector<Tick> ticks;
  for (int power = first; power <= last; power += stride) {
    const double value = frame.FromScale(power);
    const bool plain = twos ? power >= -4 && power <= 14 : power >= -3 && power <= 5;
    const int decimals = std::max(0, -power);  // 2^-n has n decimals, and so has 10^-n
    ticks.push_back({value, plain ? GroupedNumber(value, decimals) : (twos ? "2" : "10") + Superscript(power)});
  }
  return ticks;
}

// Equal ends, or ends that double can hardly tell apart, are moved from each other.
void Widen(double* low, double* high) {
  const double size = std::max(std::abs(*low), std::abs(*high));
  if (*high - *low > std::max(size * kSmallestRelativeSpan, kSmallestSpan)) return;
  const double room = size > kSmallestSpan * 10 ? size * 0.1 : 1;
  *low -= room;
  *high += room;
}

// On the scale itself, before margins.
void DataRange(const AxisFrame& frame, const std::vector<double>& values, const RangeRule& rule, double* low, double* high) {
  bool any = false;
  for (const double value : values) {
    if (!frame.CanShow(value)) continue;
    const double at = frame.OnScale(value);
    *low = any ? std::min(*low, at) : at;
    *high = any ? std::max(*high, at) : at;
    any = true;
  }
  if (!any) {
    *low = 0;
    *high = 1;
    return;
  }
  if (frame.scale != Scale::kLinear) {
    *low -= 0.3;
    *high += 0.3;
    if (std::floor(*high) - std::ceil(*low) < 1) {  // less than two powers to mark
      *low = std::floor(*low);
      *high = std::ceil(*high);
    }
    return;
  }
  if (rule.with_zero || (rule.from_zero && *low >= 0)) {
    *low = std::min(*low, 0.0);
    *high = std::max(*high, 0.0);
  }
  const bool zero_low = *low == 0 && (rule.from_zero || rule.with_zero), zero_high = *high == 0 && rule.with_zero;
  if (zero_low && *high <= kSmallestSpan) *high = 1;
  Widen(low, high);
  const double margin = rule.margin * (*high - *low);
  *low -= zero_low ? 0 : margin;
  *high += zero_high ? 0 : margin;
}

}  // namespace

bool AxisFrame::CanShow(double value) const {
  return std::abs(value) <= kLargest && (scale == Scale::kLinear || value >= 1 / kLargest);
}

double AxisFrame::OnScale(double value) const {
  return scale == Scale::kLinear ? value : scale == Scale::kLog2 ? std::log2(value) : std::log10(value);
}

double AxisFrame::FromScale(double on_scale) const {
  return scale == Scale::kLinear ? on_scale : scale == Scale::kLog2 ? std::exp2(on_scale) : std::pow(10.0, on_scale);
}

double AxisFrame::At(double value) const { return (OnScale(value) - OnScale(low)) / (OnScale(high) - OnScale(low)); }

AxisFrame FrameOf(const Axis& axis, const std::vector<double>& values, const RangeRule& rule) {
  AxisFrame frame;
  frame.scale = axis.categories.empty() ? axis.scale : Scale::kLinear;
  double low = 0, high = 1;
  DataRange(frame, values, rule, &low, &high);
  if (!axis.categories.empty()) {
    low = -0.6;
    high = static_cast<double>(axis.categories.size()) - 0.4;
  }
  if (axis.low && frame.CanShow(*axis.low)) low = frame.OnScale(*axis.low);
  if (axis.high && frame.CanShow(*axis.high)) high = frame.OnScale(*axis.high);
  if (high < low) std::swap(low, high);
  Widen(&low, &high);
  frame.low = frame.FromScale(low);
  frame.high = frame.FromScale(high);
  return frame;
}

std::vector<Tick> TicksOf(const AxisFrame& frame, int most) {
  if (frame.scale != Scale::kLinear) {
    std::vector<Tick> powers = PowerTicks(frame, most);
    if (powers.size() >= 2) return powers;
  }
  return LinearTicks(frame.low, frame.high, most);
}

}  // namespace backplane
