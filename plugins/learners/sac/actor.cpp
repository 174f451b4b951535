#include "actor.hpp"

#include <algorithm>

#include "backplane/rng.h"
#include "nn/normals.hpp"
#include "nn/vectors.hpp"
#include "rl/observations.hpp"
#include "squashed.hpp"

namespace backplane::sac {

Actor::Actor(const Net& net, const rl::EnvShape& shape) : net_(net), low_(shape.low), high_(shape.high) {}

// Actions before tanh for the policy's, [rows, actions]; random ones are in [-1, 1] already.
void Actor::Choose(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random,
                   float* squashed) const {
  static thread_local TowerWork<float> work;
  static thread_local std::vector<float> inputs, noise;
  const auto rows = static_cast<int64_t>(act.end - act.begin);
  const int64_t n = net_.actions;
  if (!random) {
    const rl::Observations obs(act.in[0], "obs");
    inputs.resize(static_cast<size_t>(rows * net_.obs)), noise.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(obs.At(net_.obs, static_cast<int64_t>(act.begin) + i), net_.obs, &inputs[i * net_.obs]);
    work.Reserve(net_.actor, rows, false);
    Forward(net_.actor, weights, params, inputs.data(), rows, &work);
  }
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<uint32_t>(act.row_base + act.begin + static_cast<uint64_t>(i));
    const uint64_t key = bp_seed(act.seed, BP_PURPOSE_ACT, row, act.step);
    float* const out = squashed + i * n;
    if (random) {
      bp_rng rng{key, 0};
      for (int64_t k = 0; k < n; ++k) out[k] = static_cast<float>(bp_rng_range(&rng, -1, 1));
    } else if (act.flags & BP_ACT_GREEDY) {
      std::copy_n(&work.head[i * 2 * n], n, out);
    } else {
      nn::FillNormals(key, 0, n, noise.data());
      Squashed(&work.head[i * 2 * n], noise.data(), n, out);
    }
  }
}

void Actor::Act(const bp_act& act, const PackedTower<float>& weights, const float* params, bool random) const {
  static thread_local std::vector<float> squashed;
  const auto rows = static_cast<int64_t>(act.end - act.begin);
  squashed.resize(static_cast<size_t>(rows * net_.actions));
  Choose(act, weights, params, random, squashed.data());
  if (!random) nn::TanhInPlace(squashed.data(), rows * net_.actions);
  const bp::View<float> actions(act.out[kAction], "action"), kept(act.out[kSquashed], "squashed");
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<int64_t>(act.begin) + i;
    float *action = actions.At(row), *own = kept.At(row);
    for (int64_t k = 0; k < net_.actions; ++k) {
      own[k] = std::clamp(squashed[i * net_.actions + k], -1.0f, 1.0f);
      action[k] = std::clamp(low_[k] + (own[k] + 1) / 2 * (high_[k] - low_[k]), low_[k], high_[k]);
    }
  }
}

}  // namespace backplane::sac
