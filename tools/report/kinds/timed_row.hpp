// What a report compares, where it speaks of times: a setting, a point.
#pragma once

#include <string>
#include <vector>

#include "results/combine.hpp"

namespace backplane {

struct TimedRow {
  std::string name;
  std::vector<size_t> trials;  // indices into Combined::trials
};

}  // namespace backplane
