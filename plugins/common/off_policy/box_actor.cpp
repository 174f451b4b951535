#include "off_policy/box_actor.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "backplane/rng.h"
#include "nn/vectors.hpp"
#include "rl/observations.hpp"

namespace backplane::off_policy {
namespace {

uint64_t KeyOf(const bp_act& act, int64_t i) {
  const auto row = static_cast<uint32_t>(act.row_base + act.begin + static_cast<uint64_t>(i));
  return bp_seed(act.seed, BP_PURPOSE_ACT, row, act.step);
}

}  // namespace

void NeedBox(const rl::EnvShape& shape) {
  if (shape.discrete) throw bp::Unsupported("expected continuous actions (BOX), got discrete ones");
  for (int64_t i = 0; i < shape.actions; ++i) {
    if (std::isfinite(shape.low[i]) && std::isfinite(shape.high[i])) continue;
    throw bp::Unsupported("expected actions with both bounds, because they are squashed into them; number " +
                          std::to_string(i) + " of channel '" + shape.action_name + "' has none");
  }
}

BoxActor::BoxActor(const Net& net, const rl::EnvShape& shape) : net_(net), low_(shape.low), high_(shape.high) {}

// Actions before tanh for the policy's, [rows, actions]; random ones are in [-1, 1] already.
void BoxActor::Choose(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random,
                      float* squashed) const {
  static thread_local TowerWork<float> work;
  static thread_local std::vector<float> inputs;
  const auto rows = static_cast<int64_t>(act.end - act.begin);
  const int64_t n = net_.actions, width = net_.actor.head.out;
  if (!random) {
    const rl::Observations obs(act.in[0], "obs");
    inputs.resize(static_cast<size_t>(rows * net_.obs));
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(obs.At(net_.obs, static_cast<int64_t>(act.begin) + i), net_.obs, &inputs[i * net_.obs]);
    work.Reserve(net_.actor, rows, false);
    Forward(net_.actor, weights, params, inputs.data(), rows, &work);
  }
  for (int64_t i = 0; i < rows; ++i) {
    float* const out = squashed + i * n;
    if (random) {
      bp_rng rng{KeyOf(act, i), 0};
      for (int64_t k = 0; k < n; ++k) out[k] = static_cast<float>(bp_rng_range(&rng, -1, 1));
    } else if (act.flags & BP_ACT_GREEDY) {
      std::copy_n(&work.head[i * width], n, out);
    } else {
      Sample(&work.head[i * width], KeyOf(act, i), out);
    }
  }
}

void BoxActor::Act(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random) const {
  static thread_local std::vector<float> squashed;
  const auto rows = static_cast<int64_t>(act.end - act.begin);
  squashed.resize(static_cast<size_t>(rows * net_.actions));
  Choose(act, weights, params, random, squashed.data());
  if (!random) nn::TanhInPlace(squashed.data(), rows * net_.actions);
  const bool explores = !random && !(act.flags & BP_ACT_GREEDY);
  const bp::View<float> actions(act.out[kAction], "action"), kept(act.out[kSquashed], "squashed");
  for (int64_t i = 0; i < rows; ++i) {
    if (explores) Perturb(KeyOf(act, i), &squashed[i * net_.actions]);
    const auto row = static_cast<int64_t>(act.begin) + i;
    float *action = actions.At(row), *own = kept.At(row);
    for (int64_t k = 0; k < net_.actions; ++k) {
      own[k] = std::clamp(squashed[i * net_.actions + k], -1.0f, 1.0f);
      action[k] = std::clamp(low_[k] + (own[k] + 1) / 2 * (high_[k] - low_[k]), low_[k], high_[k]);
    }
  }
}

}  // namespace backplane::off_policy
