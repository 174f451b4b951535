// Metrics that trials will record, as declared by their plugins.
#pragma once

#include <map>
#include <string>

namespace backplane {

// By name: 1 up is better, -1 down, 0 unknown.
using RecordedMeasures = std::map<std::string, int>;

}  // namespace backplane
