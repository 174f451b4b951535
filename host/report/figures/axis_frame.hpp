// What an axis shows: its range and its ticks. Both backends are given the same, so neither chooses for itself.
#pragma once

#include <string>
#include <vector>

#include "figures/figure.hpp"

namespace backplane {

struct Tick {
  double value = 0;
  std::string text;
};

struct AxisFrame {
  Scale scale = Scale::kLinear;
  double low = 0, high = 1;  // low < high; both > 0 on a logarithmic axis
  std::vector<Tick> ticks;

  // False for NaN, infinities, and zero and less on a logarithmic axis.
  bool CanShow(double value) const;
  bool Shows(double value) const { return CanShow(value) && value >= low && value <= high; }
  // 0 at `low`, 1 at `high`; not clamped. Only of what it can show.
  double At(double value) const;
  // The scale itself: the value, or its logarithm to base 2 or 10.
  double OnScale(double value) const;
  double FromScale(double on_scale) const;
};

// The range that holds `values` (those it can show) unless the axis says its own. From zero up if `from_zero` and nothing is
// negative; `with_zero`: zero is in it in any case.
struct RangeRule {
  bool from_zero = false, with_zero = false;
  double margin = 0.05;  // of the range, at each end that the data decides
};
AxisFrame FrameOf(const Axis& axis, const std::vector<double>& values, const RangeRule& rule);

// At most `most` (at least 2): steps of 1, 2 or 5, powers of two or of ten; on a narrow logarithmic axis as on a linear one.
std::vector<Tick> TicksOf(const AxisFrame& frame, int most);

}  // namespace backplane
