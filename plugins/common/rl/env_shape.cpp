#include "rl/env_shape.hpp"

#include <cmath>

namespace backplane::rl {

namespace {

const bp_channel& Need(const bp_env_spec* env, uint16_t role) {
  const bp_channel& channel = bp::NeedChannel(*env, role);
  if (channel.scope != BP_SCOPE_ROW) {
    throw bp::Unsupported(std::string("takes one agent per row, but channel '") + channel.name + "' is per agent");
  }
  return channel;
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env) : action(Need(env, BP_ROLE_ACTION)) {
  const bp_channel& observed = Need(env, BP_ROLE_OBS);
  Need(env, BP_ROLE_REWARD);
  if (!bp::SameDtype(observed.dtype, bp::DtypeOf<float>())) throw bp::Unsupported("needs float32 observations");
  obs_name = observed.name, action_name = action.name;
  obs = bp::ElementCount(observed);
  discrete = action.space == BP_SPACE_DISCRETE;
  if (discrete && (bp::ElementCount(action) != 1 || !bp::SameDtype(action.dtype, bp::DtypeOf<int32_t>()))) {
    throw bp::Unsupported("takes one int32 per row as a discrete action");
  }
  if (!discrete && (action.space != BP_SPACE_BOX || !bp::SameDtype(action.dtype, bp::DtypeOf<float>()))) {
    throw bp::Unsupported("takes a float32 BOX or a DISCRETE action, channel '" + action_name + "' is neither");
  }
  actions = discrete ? action.nvec[0] : bp::ElementCount(action);
  for (int64_t i = 0; !discrete && i < actions; ++i) {
    const uint64_t at = action.n_bounds > 1 ? static_cast<uint64_t>(i) : 0;
    low.push_back(action.n_bounds ? static_cast<float>(action.low[at]) : -INFINITY);
    high.push_back(action.n_bounds ? static_cast<float>(action.high[at]) : INFINITY);
  }
  const bp_channel* mask = discrete ? bp::FindOnlyChannel(*env, BP_ROLE_ACTION_MASK) : nullptr;
  if (mask && bp::ElementCount(*mask) != actions) throw bp::Unsupported("needs one mask flag per choice");
  if (mask) mask_name = mask->name;
}

}  // namespace backplane::rl
