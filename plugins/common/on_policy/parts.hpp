// Division into equal parts: samples into minibatches, minibatches into shards, shards into blocks.
#pragma once

#include <cstdint>

namespace backplane::on_policy {

// [begin, end)
struct Part {
  int64_t begin, end;
};

// Part i of n things divided into `parts`, whose sizes differ by at most one.
constexpr Part PartOf(int64_t n, int64_t parts, int64_t i) { return {n * i / parts, n * (i + 1) / parts}; }

// The smallest number of parts of at most `size`.
constexpr int64_t PartsOfAtMost(int64_t size, int64_t n) { return n / size + (n % size != 0); }

constexpr int64_t kBlock = 128;  // rows; two layers of 256 then hold 256 KiB and stay in a core's second-level cache

// Calls body(begin, rows) for each block of the part.
template <class Body>
void ForBlocks(Part part, Body&& body) {
  for (int64_t at = part.begin; at < part.end; at += kBlock) body(at, part.end - at < kBlock ? part.end - at : kBlock);
}

}  // namespace backplane::on_policy
