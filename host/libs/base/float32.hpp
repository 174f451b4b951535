// Converts float32 measurements to readable doubles.
#pragma once

#include <charconv>
#include <cmath>

namespace backplane {

// The double closest to the shortest decimal number that is this float32: 0.892f becomes 0.892 instead of 0.8920000195503235 in
// every file. The error is at most half a float32 step.
inline double AsWritten(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value);
  double same = 0;
  std::from_chars(text, written.ptr, same);
  return same;
}

}  // namespace backplane
