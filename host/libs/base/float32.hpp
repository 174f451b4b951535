// Numbers that were measured as float32, as a person would write them.
#pragma once

#include <charconv>
#include <cmath>

namespace backplane {

// The double of the shortest decimal number that is this float32: 0.892f is 0.892 and not 0.8920000195503235, and stays so in
// every file. No further from what was measured than half a step of float32.
inline double AsWritten(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value);
  double same = 0;
  std::from_chars(text, written.ptr, same);
  return same;
}

}  // namespace backplane
