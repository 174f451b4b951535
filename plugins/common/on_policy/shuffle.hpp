// A random order of things, as a function of a key.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "backplane/rng.h"
#include "on_policy/parallel.hpp"

namespace backplane::on_policy {

// Fisher and Yates. The numbers are drawn before they are used, by several threads: each is a function of its place.
class Shuffler {
 public:
  template <class I>
  void Shuffle(uint64_t key, int64_t n, const Parallel& parallel, std::vector<I>* out) {
    out->resize(n);
    std::iota(out->begin(), out->end(), I{0});
    if (n < 2) return;
    draws_.resize(n);
    // Draw d is for place n - 1 - d, and is stored there.
    ForNumbers(parallel, n - 1, [&](int64_t begin, int64_t end) {
      bp_rng rng{key, static_cast<uint64_t>(begin)};
      for (int64_t d = begin; d < end; ++d)
        draws_[n - 1 - d] = static_cast<int64_t>(bp_rng_below(&rng, static_cast<uint64_t>(n - d)));
    });
    for (int64_t i = n - 1; i > 0; --i) std::swap((*out)[i], (*out)[draws_[i]]);
  }

 private:
  std::vector<int64_t> draws_;
};

}  // namespace backplane::on_policy
