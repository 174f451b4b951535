// How many cores this process may really use.
#pragma once

namespace backplane {

// min(affinity mask, cgroup CPU quota of v1 or v2 over the leaf and its ancestors), at least 1.
unsigned GrantedCores();

}  // namespace backplane
