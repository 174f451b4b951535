// The cores that a trial may run on.
#pragma once

#include <vector>

namespace backplane {

// Keeps this process, and all that it starts, to `cores`; empty: any core. Throws std::runtime_error. Without it the trial
// would count all cores as its own, and take them.
void SetAffinity(const std::vector<int>& cores);

}  // namespace backplane
