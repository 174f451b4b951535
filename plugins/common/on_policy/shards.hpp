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

// run(part, gradient, &shard) adds a part of n samples to the shard's sums and to its gradient [params], which start at 0.
// Writes the sum of the gradients into `out` and returns that of the sums. S is a Shard<T>.
template <class S, class T, class Run>
LossSums AddUp(const Parallel& parallel, int64_t n, int64_t params, std::vector<S>* shards, T* out, Run&& run) {
  const int64_t used = RunsFor(n, params, shards->size());
  parallel(static_cast<uint64_t>(used), [&](uint64_t i) {
    S& shard = (*shards)[i];
    if (i > 0) shard.gradient.resize(params);
    T* gradient = i > 0 ? shard.gradient.data() : out;
    std::fill_n(gradient, params, T{0});
    shard.sums = {};
    run(PartOf(n, used, static_cast<int64_t>(i)), gradient, &shard);
  });
  LossSums sums = (*shards)[0].sums;
  for (int64_t i = 1; i < used; ++i) {
    nn::Add((*shards)[i].gradient.data(), params, out);
    sums.Add((*shards)[i].sums);
  }
  return sums;
}

}  // namespace backplane::on_policy
