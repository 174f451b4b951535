// Two calls at the same time.
#pragma once

#include <functional>

namespace backplane {

// Each on a thread, begun together, so that they meet however busy the machine is. What one throws is thrown here.
void AtOnce(const std::function<void()>& here, const std::function<void()>& there);

}  // namespace backplane
