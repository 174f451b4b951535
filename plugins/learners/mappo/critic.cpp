#include "critic.hpp"

#include <algorithm>
#include <numeric>

namespace backplane::mappo {

Critic::Critic(const Net& net, int64_t shards, rl::Parallel parallel)
    : net_(net), parallel_(std::move(parallel)), shards_(shards) {}

void Critic::Refresh(const float* params) {
  params_ = params;
  weights_.Pack(net_, params, false);
}

void Critic::Values(const Inputs& inputs, float* out) {
  const int64_t n = inputs.obs->rows(), used = static_cast<int64_t>(shards_.size());
  parallel_(static_cast<uint64_t>(used), [&](uint64_t i) {
    const auto shard = static_cast<int64_t>(i);
    Run(inputs, n * shard / used, n * (shard + 1) / used, &shards_[i], out);
  });
}

void Critic::Run(const Inputs& inputs, int64_t begin, int64_t end, Shard* s, float* out) const {
  s->work.Reserve(net_.critic, kBlock);
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t rows = std::min(kBlock, end - at);
    s->index.resize(rows);
    std::iota(s->index.begin(), s->index.end(), static_cast<int32_t>(at));
    s->block.Take(inputs, s->index);
    s->block.CriticSums(net_, weights_, params_, s->work.first.data());
    Forward(net_.critic, weights_.critic, params_, rows, &s->work);
    std::copy_n(s->work.head.data(), rows, out + at);
  }
}

}  // namespace backplane::mappo
