// Groups results whose times may be compared: the same machine, devices, library versions and builds of the plugins.
#pragma once

#include <string>
#include <vector>

#include "results/combine.hpp"

namespace backplane {

struct Grouping {
  std::vector<Group> groups;            // in order of appearance in the sets
  std::vector<std::vector<size_t>> of;  // [set][trial] -> index into groups
  std::string warning;                  // the differences; empty if there is one group
};

Grouping GroupSets(const std::vector<ResultSet>& sets);

}  // namespace backplane
