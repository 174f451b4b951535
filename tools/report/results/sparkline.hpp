// A curve as a word: "▁▂▄▆█".
#pragma once

#include <string>
#include <vector>

namespace backplane {

// Of at most 16 characters, each the mean of its part; empty for fewer than two finite values.
std::string Sparkline(const std::vector<double>& values);

}  // namespace backplane
