// Values of states and observations, on the cores granted.
#pragma once

#include <cstdint>
#include <vector>

#include "block.hpp"
#include "rl/parallel.hpp"

namespace backplane::mappo {

class Critic {
 public:
  // Work is cut into at most `shards` pieces; a value does not depend on the cut.
  Critic(const Net& net, int64_t shards, rl::Parallel parallel);
  // `params` [net.size] stay valid until the next call. [control]
  void Refresh(const float* params);
  // out [obs rows]: what the critic's head says, normalised if returns are. [control]
  void Values(const Inputs& inputs, float* out);

 private:
  struct Shard {
    std::vector<int32_t> index;
    Block block;
    TowerWork work;
  };
  void Run(const Inputs& inputs, int64_t begin, int64_t end, Shard* shard, float* out) const;

  Net net_;
  rl::Parallel parallel_;
  const float* params_ = nullptr;
  PackedNet weights_;
  std::vector<Shard> shards_;
};

}  // namespace backplane::mappo
