// Divides work into pieces that do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "backplane/parallel.hpp"
#include "on_policy/parts.hpp"

namespace backplane::on_policy {

// Runs body(i) once for each i < n, in any order or in parallel, and returns when all have ended.
using Parallel = std::function<void(uint64_t n, const std::function<void(uint64_t)>& body)>;

// Runs on the cores that the host granted.
inline Parallel OnHost(const bp_host* host) {
  return [host](uint64_t n, const std::function<void(uint64_t)>& body) { bp::ParallelFor(host, n, body); };
}

// Runs on the calling thread.
inline Parallel OnOneThread() {
  return [](uint64_t n, const std::function<void(uint64_t)>& body) {
    for (uint64_t i = 0; i < n; ++i) body(i);
  };
}

// Calls body(i) for pieces that touch n numbers together: on the caller if n is too small to use other threads.
template <class Body>
void ForPieces(const Parallel& parallel, int64_t pieces, int64_t n, Body&& body) {
  constexpr int64_t kWorth = 16'384;
  n < kWorth ? OnOneThread()(static_cast<uint64_t>(pieces), body) : parallel(static_cast<uint64_t>(pieces), body);
}

// Calls body(begin, end) for parts of n numbers that are large enough for another thread. The division must not affect their
// results.
template <class Body>
void ForNumbers(const Parallel& parallel, int64_t n, Body&& body) {
  constexpr int64_t kWorth = 8192;
  constexpr int64_t kLine = 16;  // floats: threads never share a cache line of an aligned buffer
  if (n < kWorth) return body(int64_t{0}, n);
  // Halves, because two networks are stored consecutively and each thread has one of them in its caches.
  const int64_t lines = PartsOfAtMost(kLine, n), parts = 2 * PartsOfAtMost(kWorth, n);
  parallel(static_cast<uint64_t>(parts), [&](uint64_t i) {
    const Part part = PartOf(lines, parts, static_cast<int64_t>(i));
    body(part.begin * kLine, std::min(part.end * kLine, n));
  });
}

}  // namespace backplane::on_policy
