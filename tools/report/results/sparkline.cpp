#include "results/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace backplane {

std::string Sparkline(const std::vector<double>& values) {
  constexpr std::array kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kMost = 16;
  std::vector<double> finite, parts;
  for (const double value : values)
    if (std::isfinite(value)) finite.push_back(value);
  if (finite.size() < 2) return "";
  const size_t count = std::min(finite.size(), kMost);
  for (size_t part = 0; part < count; ++part) {
    const size_t begin = finite.size() * part / count, end = finite.size() * (part + 1) / count;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += finite[i];
    parts.push_back(sum / static_cast<double>(end - begin));
  }
  const auto [least, most] = std::minmax_element(parts.begin(), parts.end());
  std::string text;
  for (const double part : parts) {
    const double share = *most > *least ? (part - *least) / (*most - *least) : 0;
    text += kLevels[static_cast<size_t>(std::lround(share * (kLevels.size() - 1)))];
  }
  return text;
}

}  // namespace backplane
