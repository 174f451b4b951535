// Things cut into equal parts: samples into minibatches, minibatches into shards.
#pragma once

#include <cstdint>

namespace backplane::rl {

// [begin, end)
struct Part {
  int64_t begin, end;
};

// Part i of n things cut into `parts`, whose sizes differ by one at most.
constexpr Part PartOf(int64_t n, int64_t parts, int64_t i) { return {n * i / parts, n * (i + 1) / parts}; }

// How many parts it takes so that none is larger than `size`.
constexpr int64_t PartsOfAtMost(int64_t size, int64_t n) { return n / size + (n % size != 0); }

}  // namespace backplane::rl
