// The compared row of a report on times: a setting or a point.
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
