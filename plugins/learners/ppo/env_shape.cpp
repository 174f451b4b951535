#include "env_shape.hpp"

#include "on_policy/vision.hpp"
#include "rl/env_shape.hpp"

namespace backplane::ppo {
namespace {

// uint8 from 0 to 255 in two or three dimensions, large enough for the convolutions. If there are three, the channels are the
// first one if it is the smallest, else the last.
std::optional<nn::Image> ImageIn(const bp_channel& c) {
  if (!bp::SameDtype(c.dtype, bp::DtypeOf<uint8_t>()) || c.space != BP_SPACE_BOX || (c.ndim != 2 && c.ndim != 3)) return {};
  for (uint64_t i = 0; i < c.n_bounds; ++i)
    if (c.low[i] != 0 || c.high[i] != 255) return {};
  const bool planar = c.ndim == 3 && c.shape[0] < c.shape[2] && c.shape[0] < c.shape[1];
  const int64_t* sides = c.shape + (planar ? 1 : 0);
  const int64_t channels = c.ndim == 2 ? 1 : planar ? c.shape[0] : c.shape[2];
  if (sides[0] < on_policy::kLeastSide || sides[1] < on_policy::kLeastSide) return {};
  return nn::Image{sides[0], sides[1], channels, planar};
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env, bool may_see) {
  for (const bp_channel* c : bp::FindChannels(*env, BP_ROLE_OBS)) {
    rl::NeedRowScope(*c);
    if (!bp::SameDtype(c->dtype, bp::DtypeOf<float>()) && !bp::SameDtype(c->dtype, bp::DtypeOf<uint8_t>()))
      throw bp::Unsupported("expected float32 or uint8 observations, got " + bp::DtypeText(c->dtype));
    observed.push_back({c->name, bp::FinalName(*env, *c), bp::ElementCount(*c), may_see ? ImageIn(*c) : std::nullopt});
    observed.back().image ? images.push_back(*observed.back().image) : (void)(obs += observed.back().size);
  }
  if (observed.empty()) throw bp::Unsupported("needs an OBS channel, the env has none");
  rl::NeedRowChannel(env, BP_ROLE_REWARD);
  for (const bp_channel* c : bp::FindChannels(*env, BP_ROLE_ACTION)) rl::NeedRowScope(*c), Add(*c);
  if (actions.empty()) throw bp::Unsupported("needs an ACTION channel, the env has none");
  const bp_channel* mask = distributions.flags > 0 ? bp::FindOnlyChannel(*env, BP_ROLE_ACTION_MASK) : nullptr;
  if (mask && bp::ElementCount(*mask) != distributions.flags)
    throw bp::Unsupported("expected one mask flag per choice, " + std::to_string(distributions.flags) + " in total, got " +
                          std::to_string(bp::ElementCount(*mask)));
  if (mask) mask_name = mask->name;
}

}  // namespace backplane::ppo
