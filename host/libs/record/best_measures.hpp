// Names of a trial's best evaluation in reports: "best/return" of "eval/return". All other measures are of the last policy.
#pragma once

#include <string>

namespace backplane {

inline constexpr char kBestPrefix[] = "best/", kBestIteration[] = "best/iteration";
inline std::string BestNameOf(const std::string& metric) { return kBestPrefix + metric.substr(metric.find('/') + 1); }

}  // namespace backplane
