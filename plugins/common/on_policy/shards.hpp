// A gradient from runs of samples, each with a gradient of its own, added in order: the result depends on how many runs there
// may be and never on how many cores run them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nn/vectors.hpp"
#include "on_policy/clipped_loss.hpp"
#include "on_policy/parallel.hpp"
#include "on_policy/parts.hpp"

namespace backplane::on_policy {

// What one run works with, kept from one minibatch to the next.
template <class T>
struct Shard {
  std::vector<T> gradient;  // of all but the first run
  LossSums sums;
};

// How many runs n samples of a network of `params` parameters are worth.
inline int64_t RunsFor(int64_t n, int64_t params, size_t most) {
  constexpr int64_t kLeastWork = 3'000'000;  // rows x parameters that are worth a hand-over to another thread: about 0.2 ms
  return std::clamp<int64_t>(n * params / kLeastWork, 1, static_cast<int64_t>(most));
}

// run(part, net, gradient, &shard) adds what network `net` < `nets` has of a part of n samples to the shard's sums and to its
// gradient [params]; the sums start at 0, and the gradient is the network's own to clear. Networks share no sum and no
// parameter, and may run at the same time. Writes the sum of the gradients into `out` and returns that of the sums. S is a
// Shard<T>.
template <class S, class T, class Run>
LossSums AddUp(const Parallel& parallel, int64_t n, int64_t params, int64_t nets, std::vector<S>* shards, T* out, Run&& run) {
  const int64_t used = RunsFor(n, params, shards->size());
  for (int64_t i = 0; i < used; ++i) {
    (*shards)[i].sums = {};
    if (i > 0) (*shards)[i].gradient.resize(params);
  }
  // A network's runs follow each other: two threads have a network each, with its weights, gradients and moments.
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
