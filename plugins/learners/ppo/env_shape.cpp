#include "env_shape.hpp"

#include <cmath>

#include "rl/env_shape.hpp"

namespace backplane::ppo {
namespace {

using on_policy::Distributions;
using on_policy::Kind;

bool FitsSpace(const bp_channel& c) {
  const auto is = [&](bp_dtype type) { return bp::SameDtype(c.dtype, type); };
  switch (c.space) {
    case BP_SPACE_BOX: return is(bp::DtypeOf<float>());
    case BP_SPACE_DISCRETE: return is(bp::DtypeOf<int32_t>()) && bp::ElementCount(c) == 1;
    case BP_SPACE_MULTI_DISCRETE: return is(bp::DtypeOf<int32_t>());
    case BP_SPACE_MULTI_BINARY: return is(bp::DtypeOf<uint8_t>());
    default: return false;
  }
}

void AddDistributions(const bp_channel& c, Distributions* out) {
  const int64_t n = bp::ElementCount(c);
  if (c.space == BP_SPACE_BOX) out->Add(Kind::kGaussian, n);
  if (c.space == BP_SPACE_MULTI_BINARY) out->Add(Kind::kBits, n);
  if (c.space == BP_SPACE_DISCRETE || c.space == BP_SPACE_MULTI_DISCRETE)
    for (int64_t i = 0; i < n; ++i) out->Add(Kind::kChoice, c.nvec[i]);
}

}  // namespace

EnvShape::EnvShape(const bp_env_spec* env) {
  for (const bp_channel* c : bp::FindChannels(*env, BP_ROLE_OBS)) {
    rl::NeedRowScope(*c);
    if (!bp::SameDtype(c->dtype, bp::DtypeOf<float>()) && !bp::SameDtype(c->dtype, bp::DtypeOf<uint8_t>()))
      throw bp::Unsupported("expected float32 or uint8 observations, got " + bp::DtypeText(c->dtype));
    observed.push_back({c->name, bp::FinalName(*env, *c), bp::ElementCount(*c)});
    obs += observed.back().size;
  }
  if (observed.empty()) throw bp::Unsupported("needs an OBS channel, the env has none");
  rl::NeedRowChannel(env, BP_ROLE_REWARD);
  declarations = bp::FindChannels(*env, BP_ROLE_ACTION);
  if (declarations.empty()) throw bp::Unsupported("needs an ACTION channel, the env has none");
  for (const bp_channel* c : declarations) {
    rl::NeedRowScope(*c);
    if (!FitsSpace(*c))
      throw bp::Unsupported(std::string("expected actions that are float32 BOX, int32 DISCRETE or MULTI_DISCRETE, or uint8 ") +
                            "MULTI_BINARY, channel '" + c->name + "' is none of them");
    const size_t first = distributions.each.size();
    AddDistributions(*c, &distributions);
    actions.push_back({c->name, c->space, bp::ElementCount(*c), first, distributions.each.size() - first});
    if (c->space != BP_SPACE_BOX) continue;
    for (const float bound : rl::BoundsOf(*c, c->low, -INFINITY)) low.push_back(bound);
    for (const float bound : rl::BoundsOf(*c, c->high, INFINITY)) high.push_back(bound);
  }
  const bp_channel* mask = distributions.flags > 0 ? bp::FindOnlyChannel(*env, BP_ROLE_ACTION_MASK) : nullptr;
  if (mask && bp::ElementCount(*mask) != distributions.flags)
    throw bp::Unsupported("expected one mask flag per choice, " + std::to_string(distributions.flags) + " in total, got " +
                          std::to_string(bp::ElementCount(*mask)));
  if (mask) mask_name = mask->name;
}

}  // namespace backplane::ppo
