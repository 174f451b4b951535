// The properties of an env that a learner for one agent per row needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::rl {

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);     // throws bp::Unsupported with a reason
  std::string obs_name, action_name, mask_name;  // mask_name empty: no mask
  int64_t obs, actions;
  bool discrete;
  bp_channel action;             // borrowed, only for the constructor
  std::vector<float> low, high;  // per element, infinite if unbounded
};

}  // namespace backplane::rl
