// A curve as a word: "▁▂▄▆█".
#pragma once

#include <string>
#include <vector>

namespace backplane {

// At most 16 characters, each the mean of its part. Empty for fewer than two finite values.
std::string Sparkline(const std::vector<double>& values);

}  // namespace backplane
