// Two calls at the same time.
#pragma once

#include <functional>

namespace backplane {

// Runs each function on a thread, started together, so that they overlap on a busy machine too. Rethrows their exceptions
// here.
void AtOnce(const std::function<void()>& here, const std::function<void()>& there);

}  // namespace backplane
