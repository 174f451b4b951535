// What trials will record, as their plugins tell before they run.
#pragma once

#include <map>
#include <string>

namespace backplane {

// By name: 1 up is better, -1 down, 0 nobody says.
using RecordedMeasures = std::map<std::string, int>;

}  // namespace backplane
