// Sums a gradient from runs of samples, each with its own gradient, in order: the result depends on the number of runs but not
// on the number of cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nn/vectors.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/parts.hpp"

namespace backplane::on_policy {

// The workspace of a run, reused for all minibatches.
template <class T>
struct Shard {
  std::vector<T> gradient;  // unused by the first run
  LossSums sums;
};

// The number of runs for which n samples of a network of `params` parameters are enough work.
inline int64_t RunsFor(int64_t n, int64_t params, size_t most) {
  constexpr int64_t kLeastWork = 3'000'000;  // rows x parameters that justify another thread: about 0.2 ms
  return std::clamp<int64_t>(n * params / kLeastWork, 1, static_cast<int64_t>(most));
}

// run(part, net, gradient, &shard) adds the contribution of network `net` < `nets` for a part of n samples to the shard's sums
// and to its gradient [params]. The sums start at 0; the network clears its own gradient. Networks share neither sums nor
// parameters and may run in parallel. Writes the total gradient into `out` and returns the total sums. S is a Shard<T>.
template <class S, class T, class Run>
LossSums AddUp(const Parallel& parallel, int64_t n, int64_t params, int64_t nets, std::vector<S>* shards, T* out, Run&& run) {
  const int64_t used = RunsFor(n, params, shards->size());
  for (int64_t i = 0; i < used; ++i) {
    (*shards)[i].sums = {};
    if (i > 0) (*shards)[i].gradient.resize(params);
  }
  // A network's runs are consecutive: two threads work on one network each, with its weights, gradients and moments.
  parallel(static_cast<uint64_t>(used * nets), [&](uint64_t piece) {
    const int64_t i = static_cast<int64_t>(piece) % used;
    S& shard = (*shards)[i];
    run(PartOf(n, used, i), static_cast<int64_t>(piece) / used, i > 0 ? shard.gradient.data() : out, &shard);
  });
  LossSums sums = (*shards)[0].sums;
  for (int64_t i = 1; i < used; ++i) sums.Add((*shards)[i].sums);
  if (used < 2) return sums;
  ForNumbers(parallel, params, [&](int64_t begin, int64_t end) {
    for (int64_t i = 1; i < used; ++i) nn::Add((*shards)[i].gradient.data() + begin, end - begin, out + begin);
  });
  return sums;
}

}  // namespace backplane::on_policy
