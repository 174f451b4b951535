// SAC's networks.
#pragma once

#include "off_policy/net.hpp"

namespace backplane::sac {

using namespace off_policy;  // its nets, critics and batches

// The actor's head: the means, then the logarithms of the deviations, [2 * actions].
struct Net : off_policy::Net {
  explicit Net(const NetShape& shape) : off_policy::Net(shape, 2 * shape.actions) {}
};

}  // namespace backplane::sac
