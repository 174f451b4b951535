// The properties of an env that a learner for one agent per row needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/learner.hpp"

namespace backplane::rl {

// The only channel of a role; throws bp::Unsupported if it is missing or belongs to several agents.
const bp_channel& NeedRowChannel(const bp_env_spec* env, uint16_t role);
void NeedRowScope(const bp_channel& channel);
// The bounds of each element of an action; a single bound applies to all, none means `unbounded`.
std::vector<float> BoundsOf(const bp_channel& action, const double* bounds, float unbounded);

struct EnvShape {
  explicit EnvShape(const bp_env_spec* env);     // throws bp::Unsupported with a reason
  std::string obs_name, action_name, mask_name;  // mask_name empty: no mask
  int64_t obs, actions;
  bool discrete;
  bp_channel action;             // borrowed, only for the constructor
  std::vector<float> low, high;  // per element, infinite if unbounded
};

}  // namespace backplane::rl
