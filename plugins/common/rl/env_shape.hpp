// What a learner for one agent per row needs to know of an env.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::rl {

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);     // throws bp::Unsupported with a sentence
  std::string obs_name, action_name, mask_name;  // mask_name empty: no mask
  int64_t obs, actions;
  bool discrete;
  bp_channel action;             // borrowed, for the constructor only
  std::vector<float> low, high;  // per element, infinite where there is no bound
};

}  // namespace backplane::rl
