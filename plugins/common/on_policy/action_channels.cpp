#include "on_policy/action_channels.hpp"

#include <cmath>

#include "on_policy/categorical.hpp"
#include "rl/env_shape.hpp"
#include "rl/policy_form.hpp"

namespace backplane::on_policy {
namespace {

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

void ActionChannels::Add(const bp_channel& c) {
  if (!FitsSpace(c))
    throw bp::Unsupported(std::string("expected actions that are float32 BOX, int32 DISCRETE or MULTI_DISCRETE, or uint8 ") +
                          "MULTI_BINARY, channel '" + c.name + "' is none of them");
  const size_t first = distributions.each.size();
  AddDistributions(c, &distributions);
  actions.push_back({c.name, c.space, bp::ElementCount(c), first, distributions.each.size() - first});
  declarations.push_back(&c);
  if (c.space != BP_SPACE_BOX) return;
  for (const float bound : rl::BoundsOf(c, c.low, -INFINITY)) low.push_back(bound);
  for (const float bound : rl::BoundsOf(c, c.high, INFINITY)) high.push_back(bound);
}

std::string ActionChannels::HeadText() const {
  if (distributions.is_plain())
    return low.empty() ? rl::DiscreteHead(distributions.outputs) : rl::ContinuousHead(low, high, false);
  std::vector<rl::HeadPart> parts;
  for (const ActionChannel& each : actions) {
    rl::HeadPart& part = parts.emplace_back();
    part.action = each.name;
    for (size_t k = each.first; k < each.first + each.n; ++k) {
      const Distribution& one = distributions.each[k];
      if (one.kind == Kind::kChoice) part.choices.push_back(one.n);
      if (one.kind == Kind::kBits) part.bits = one.n;
      if (one.kind == Kind::kGaussian)
        part.low.assign(&low[one.number], &low[one.number] + one.n),
            part.high.assign(&high[one.number], &high[one.number] + one.n);
    }
  }
  return rl::SeveralHead(parts);
}

double DrawChoices(const ActEntry& entry, const Distribution& part, int64_t k, bp_rng* rng, const bp_tensor* out) {
  const float* const head = entry.head + part.output;
  if (part.kind == Kind::kBits) return DrawBits(head, part.n, rng, bp::View<uint8_t>(out, "action").At(entry.at));
  double logp = 0;
  const uint8_t* const mask = entry.mask ? entry.mask + part.flag : nullptr;
  bp::View<int32_t>(out, "action").At(entry.at)[k] = DrawCategorical(head, mask, part.n, rng, &logp);
  return logp;
}

}  // namespace backplane::on_policy
