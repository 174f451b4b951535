// How many cores this process may really use.
#pragma once

#include <vector>

namespace backplane {

// min(affinity mask, cgroup CPU quota of v1 or v2 over the leaf and its ancestors), at least 1.
unsigned GrantedCores();
// The cores of the affinity mask, by number.
std::vector<int> GrantedCpus();

}  // namespace backplane
