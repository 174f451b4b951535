#include "rl/env_shape.hpp"

#include <cmath>

namespace backplane::rl {

namespace {

const bp_channel& Need(const bp_env_spec* env, uint16_t role) {
  const bp_channel& channel = bp::NeedChannel(*env, role);
  if (channel.scope != BP_SCOPE_ROW) {
    throw bp::Unsupported(std::string("expected one agent per row, got channel '") + channel.name + "', which is per agent");
  }
  return channel;
}

// The bounds of each action; a single bound applies to all, none means unbounded.
std::vector<float> Bounds(const bp_channel& action, const double* bounds, float unbounded) {
  std::vector<float> values(static_cast<size_t>(bp::ElementCount(action)), unbounded);
  for (size_t i = 0; action.n_bounds && i < values.size(); ++i)
    values[i] = static_cast<float>(bounds[action.n_bounds > 1 ? i : 0]);
  return values;
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env) : action(Need(env, BP_ROLE_ACTION)) {
  const bp_channel& observed = Need(env, BP_ROLE_OBS);
  Need(env, BP_ROLE_REWARD);
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
  if (!discrete) low = Bounds(action, action.low, -INFINITY), high = Bounds(action, action.high, INFINITY);
  const bp_channel* mask = discrete ? bp::FindOnlyChannel(*env, BP_ROLE_ACTION_MASK) : nullptr;
  if (mask && bp::ElementCount(*mask) != actions) throw bp::Unsupported("expected one mask flag per choice");
  if (mask) mask_name = mask->name;
}

}  // namespace backplane::rl
