#include "actor.hpp"

#include <algorithm>
#include <numeric>

#include "backplane/rng.h"
#include "observed.hpp"
#include "on_policy/categorical.hpp"

namespace backplane::mappo {

struct Actor::Buffers {
  Observed seen;
  nn::SparseRows obs;
  std::vector<int64_t> agents;
  std::vector<int32_t> index;
  Block block;
  TowerWork<float> work;
};

Actor::Actor(const Net& net, const EnvShape& shape)
    : net_(net), obs_(shape.obs), masked_(!shape.mask.empty()), mortal_(!shape.alive.empty()), agents_(shape.agents) {}

void Actor::Refresh(const float* params) {
  params_ = params;
  weights_.Pack(net_, params, false, nn::Precision::kFull, OnOneThread());
}

void Actor::Act(const bp_act& act) const {
  static thread_local Buffers buffers;
  buffers.seen.Bind(obs_, [&](size_t i) { return act.in[i]; });
  const bp::View<const uint8_t> alive =
      mortal_ ? bp::View<const uint8_t>(act.in[obs_.size() + masked_], "alive") : bp::View<const uint8_t>();
  const bp::View<int32_t> action(act.out[0], "action");
  const bp::View<float> logp(act.out[1], "logp");
  const auto begin = static_cast<int64_t>(act.begin) * agents_, end = static_cast<int64_t>(act.end) * agents_;
  buffers.obs.Reset(net_.obs), buffers.agents.clear();
  for (int64_t agent = begin; agent < end; ++agent) {
    if (alive && !*alive.At(agent)) {
      *action.At(agent) = 0, *logp.At(agent) = 0;
      if (net_.actor.memory.size > 0)
        std::copy_n(MemoryBefore(act).At(agent), net_.actor.memory.size, MemoryAfter(act).At(agent));
      continue;
    }
    buffers.seen.Append(&buffers.obs, agent);
    buffers.agents.push_back(agent);
    if (buffers.obs.rows() == kBlock) Choose(act, &buffers);
  }
  if (buffers.obs.rows() > 0) Choose(act, &buffers);
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
  for (int64_t i = 0; i < n; ++i) {
    const int64_t agent = b->agents[i];
    const auto absolute = static_cast<uint32_t>(act.row_base * static_cast<uint64_t>(agents_) + static_cast<uint64_t>(agent));
    bp_rng stream{bp_seed(act.seed, BP_PURPOSE_ACT, absolute, act.step), 0};
    const uint8_t* mask = masked_ ? bp::View<const uint8_t>(act.in[obs_.size()], "action_mask").At(agent) : nullptr;
    double logp;
    *bp::View<int32_t>(act.out[0], "action").At(agent) = DrawCategorical(&b->work.head[i * net_.actions], mask, net_.actions,
                                                                         act.flags & BP_ACT_GREEDY ? nullptr : &stream, &logp);
    *bp::View<float>(act.out[1], "logp").At(agent) = static_cast<float>(logp);
  }
  b->obs.Reset(net_.obs), b->agents.clear();
}

}  // namespace backplane::mappo
