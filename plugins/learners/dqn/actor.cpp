#include "actor.hpp"

#include <algorithm>
#include <vector>

#include "backplane/rng.h"
#include "rl/observations.hpp"

namespace backplane::dqn {

// `head`: NULL if epsilon is 1.
int64_t Actor::Choose(const float* head, const uint8_t* mask, uint64_t key, double epsilon) const {
  static thread_local std::vector<float> values;
  bp_rng rng{key, 0};
  if (epsilon > 0 && bp_rng_uniform(&rng) < epsilon) {
    int64_t allowed = mask == nullptr ? net_.choices : net_.choices - std::count(mask, mask + net_.choices, uint8_t{0});
    if (allowed == 0) return -1;
    auto left = static_cast<int64_t>(bp_rng_below(&rng, static_cast<uint64_t>(allowed)));
    for (int64_t k = 0;; ++k)
      if ((mask == nullptr || mask[k] != 0) && left-- == 0) return k;
  }
  values.resize(static_cast<size_t>(net_.choices));
  Values(net_, head, values.data());
  return Best(values.data(), mask, net_.choices);
}

void Actor::Act(const bp_act& act, const PackedTower<float>& weights, const float* params, double epsilon) const {
  static thread_local TowerWork<float> work;
  static thread_local std::vector<float> inputs;
  const auto begin = static_cast<int64_t>(act.begin), rows = static_cast<int64_t>(act.end - act.begin);
  const bool all_random = epsilon >= 1;
  if (!all_random) {
    const rl::Observations obs(act.in[0], "obs");
    inputs.resize(static_cast<size_t>(rows * net_.obs));
    for (int64_t i = 0; i < rows; ++i) std::copy_n(obs.At(net_.obs, begin + i), net_.obs, &inputs[i * net_.obs]);
    work.Reserve(net_.tower, rows, false);
    Forward(net_.tower, weights, params, inputs.data(), rows, &work);
  }
  const bp::View<int32_t> actions(act.out[kAction], "action");
  const bp::View<float> stored(act.out[kStored], "stored_action");
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<uint32_t>(act.row_base + act.begin + static_cast<uint64_t>(i));
    const uint8_t* mask = net_.masked ? bp::View<const uint8_t>(act.in[1], "action_mask").At(begin + i) : nullptr;
    const int64_t choice = Choose(all_random ? nullptr : &work.head[i * net_.tower.head.out], mask,
                                  bp_seed(act.seed, BP_PURPOSE_ACT, row, act.step), epsilon);
    if (choice < 0) throw bp::Error(BP_E_INVALID_ARG, "an action mask allows no choice");
    *actions.At(begin + i) = static_cast<int32_t>(choice);
    float* const kept = stored.At(begin + i);
    kept[0] = static_cast<float>(choice);
    for (int64_t k = 0; net_.masked && k < net_.choices; ++k) kept[1 + k] = mask[k] != 0 ? 1.f : 0.f;
  }
}

}  // namespace backplane::dqn
