#include "rl/env_shape.hpp"

#include <cmath>

namespace backplane::rl {

void NeedRowScope(const bp_channel& channel) {
  if (channel.scope != BP_SCOPE_ROW) {
    throw bp::Unsupported(std::string("expected one agent per row, got channel '") + channel.name + "', which is per agent");
  }
}

const bp_channel& NeedRowChannel(const bp_env_spec* env, uint16_t role) {
  if (const auto groups = bp::GroupsOf(*env); !groups.empty())
    throw bp::Unsupported("expected one agent per row, got " + std::to_string(env->max_agents) + " agents in " +
                          std::to_string(groups.size()) + " groups, which learner.mappo supports");
  const bp_channel& channel = bp::NeedChannel(*env, role);
  NeedRowScope(channel);
  return channel;
}

std::vector<float> BoundsOf(const bp_channel& action, const double* bounds, float unbounded) {
  std::vector<float> values(static_cast<size_t>(bp::ElementCount(action)), unbounded);
  for (size_t i = 0; action.n_bounds && i < values.size(); ++i)
    values[i] = static_cast<float>(bounds[action.n_bounds > 1 ? i : 0]);
  return values;
}

EnvShape::EnvShape(const bp_env_spec* env) : action(NeedRowChannel(env, BP_ROLE_ACTION)) {
  const bp_channel& observed = NeedRowChannel(env, BP_ROLE_OBS);
  NeedRowChannel(env, BP_ROLE_REWARD);
  if (!bp::SameDtype(observed.dtype, bp::DtypeOf<float>()) && !bp::SameDtype(observed.dtype, bp::DtypeOf<uint8_t>()))
    throw bp::Unsupported("expected float32 or uint8 observations, got " + bp::DtypeText(observed.dtype));
  obs_name = observed.name, action_name = action.name;
  obs = bp::ElementCount(observed);
  discrete = action.space == BP_SPACE_DISCRETE;
  if (discrete && (bp::ElementCount(action) != 1 || !bp::SameDtype(action.dtype, bp::DtypeOf<int32_t>()))) {
    throw bp::Unsupported("expected one int32 per row as a discrete action");
  }
  if (!discrete && (action.space != BP_SPACE_BOX || !bp::SameDtype(action.dtype, bp::DtypeOf<float>()))) {
    throw bp::Unsupported("expected a float32 BOX or a DISCRETE action, channel '" + action_name + "' is neither");
  }
  actions = discrete ? action.nvec[0] : bp::ElementCount(action);
  if (!discrete) low = BoundsOf(action, action.low, -INFINITY), high = BoundsOf(action, action.high, INFINITY);
  const bp_channel* mask = discrete ? bp::FindOnlyChannel(*env, BP_ROLE_ACTION_MASK) : nullptr;
  if (mask && bp::ElementCount(*mask) != actions) throw bp::Unsupported("expected one mask flag per choice");
  if (mask) mask_name = mask->name;
}

}  // namespace backplane::rl
