#include "actor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backplane/rng.h"
#include "observed.hpp"
#include "on_policy/gaussian.hpp"

namespace backplane::mappo {

struct Actor::Buffers {
  Observed seen;
  nn::SparseRows obs;
  std::vector<int64_t> agents;
  std::vector<int32_t> index;
  Block block;
  TowerWork<float> work;
  std::vector<double> noise;
};

Actor::Actor(const Net& net, const EnvShape& shape)
    : net_(net),
      obs_(shape.obs),
      actions_(shape.actions),
      low_(shape.low),
      high_(shape.high),
      masked_(!shape.mask.empty()),
      mortal_(!shape.alive.empty()),
      shape_(shape),
      agents_(shape.agents) {
  shape_.declarations.clear();  // drop pointers that may become invalid
}

void Actor::Refresh(const float* params) {
  params_ = params;
  weights_.Pack(net_, params, false, nn::Precision::kFull, OnOneThread());
  std_.resize(net_.log_stds());
  for (int64_t i = 0; i < net_.log_stds(); ++i) std_[i] = std::exp(static_cast<double>(params[net_.log_std + i]));
}

void Actor::Act(const bp_act& act) const {
  static thread_local Buffers buffers;
  buffers.seen.Bind(obs_, [&](size_t i) { return act.in[i]; });
  const bp::View<const uint8_t> alive =
      mortal_ ? bp::View<const uint8_t>(act.in[obs_.size() + masked_], "alive") : bp::View<const uint8_t>();
  const auto begin = static_cast<int64_t>(act.begin) * agents_, end = static_cast<int64_t>(act.end) * agents_;
  buffers.obs.Reset(net_.obs), buffers.agents.clear();
  for (int64_t agent = begin; agent < end; ++agent) {
    if (alive && !*alive.At(shape_.InAll(agent))) {
      Rest(act, agent);
      continue;
    }
    buffers.seen.Append(&buffers.obs, agent);
    buffers.agents.push_back(agent);
    if (buffers.obs.rows() == kBlock) Choose(act, &buffers);
  }
  if (buffers.obs.rows() > 0) Choose(act, &buffers);
}

void Actor::Rest(const bp_act& act, int64_t agent) const {
  int64_t number = 0;
  for (size_t c = 0; c < actions_.size(); ++c) {
    const int64_t n = actions_[c].elements;
    if (actions_[c].space == BP_SPACE_BOX) {
      float* const to = bp::View<float>(act.out[c], "action").At(agent);
      for (int64_t i = 0; i < n; ++i, ++number) to[i] = std::clamp(0.0f, low_[number], high_[number]);
    } else if (actions_[c].space == BP_SPACE_MULTI_BINARY) {
      std::fill_n(bp::View<uint8_t>(act.out[c], "action").At(agent), n, 0);
    } else {
      std::fill_n(bp::View<int32_t>(act.out[c], "action").At(agent), n, 0);
    }
  }
  *bp::View<float>(Out(act, kLogp), "logp").At(agent) = 0;
  if (number > 0) std::fill_n(bp::View<float>(Out(act, kRawAction), "raw_action").At(agent), number, 0.0f);
  const int64_t size = net_.actor.memory.size;
  if (size > 0) std::copy_n(MemoryBefore(act).At(agent), size, MemoryAfter(act).At(agent));
}

void Actor::Choose(const bp_act& act, Buffers* b) const {
  const int64_t n = b->obs.rows();
  b->index.resize(n);
  std::iota(b->index.begin(), b->index.end(), 0);
  b->block.Take({&b->obs, nullptr, {}}, b->index);
  b->work.Reserve(net_.actor, n, false);
  const int64_t size = net_.actor.memory.size;
  b->work.sequences = {{&n, 1}};
  for (int64_t i = 0; i < n && size > 0; ++i)
    std::copy_n(MemoryBefore(act).At(b->agents[i]), size, &b->work.memory.before[i * size]);
  b->block.RunActor(net_, weights_, params_, &b->work);
  for (int64_t i = 0; i < n && size > 0; ++i)
    std::copy_n(&b->work.memory.state[i * size], size, MemoryAfter(act).At(b->agents[i]));
  for (int64_t i = 0; i < n; ++i) Draw(act, b->agents[i], &b->work.head[i * net_.actions], b);
  b->obs.Reset(net_.obs), b->agents.clear();
}

void Actor::Draw(const bp_act& act, int64_t agent, const float* head, Buffers* b) const {
  const auto before = act.row_base * static_cast<uint64_t>(shape_.row_agents);  // agents of earlier rows
  const auto absolute = static_cast<uint32_t>(before + static_cast<uint64_t>(shape_.InAll(agent)));
  const uint64_t key = bp_seed(act.seed, BP_PURPOSE_ACT, absolute, act.step);
  const uint8_t* mask = masked_ ? bp::View<const uint8_t>(act.in[obs_.size()], "action_mask").At(agent) : nullptr;
  const ActEntry entry{act, key, agent, head, mask};
  b->noise.resize(net_.log_stds());
  if (net_.log_stds() > 0 && !entry.greedy()) FillNormals(key, net_.log_stds(), b->noise.data());
  const double logp = DrawAction(entry, actions_, net_.action, [&](const Distribution& part, const bp_tensor* out) {
    float* const raw = bp::View<float>(Out(act, kRawAction), "raw_action").At(agent) + part.number;
    float* const action = bp::View<float>(out, "action").At(agent);
    const double* const noise = entry.greedy() ? nullptr : b->noise.data() + part.number;
    const double one = DrawGaussian(head + part.output, std_.data() + part.number, noise, part.n, raw);
    for (int64_t i = 0; i < part.n; ++i) action[i] = std::clamp(raw[i], low_[part.number + i], high_[part.number + i]);
    return one;
  });
  *bp::View<float>(Out(act, kLogp), "logp").At(agent) = static_cast<float>(logp);
}

}  // namespace backplane::mappo
