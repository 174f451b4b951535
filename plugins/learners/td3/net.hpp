// TD3's networks.
#pragma once

#include "off_policy/net.hpp"

namespace backplane::td3 {

using namespace off_policy;  // its nets, critics and batches

// The actor's head: the actions before tanh.
struct Net : off_policy::Net {
  explicit Net(const NetShape& shape) : off_policy::Net(shape, shape.actions) {}
};

}  // namespace backplane::td3
