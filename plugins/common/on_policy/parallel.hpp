// Work cut into pieces that do not depend on how many threads run them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "backplane/parallel.hpp"
#include "on_policy/parts.hpp"

namespace backplane::on_policy {

// Runs body(i) once for each i < n and returns when all have run, in any order or at the same time.
using Parallel = std::function<void(uint64_t n, const std::function<void(uint64_t)>& body)>;

// On the cores that the host granted.
inline Parallel OnHost(const bp_host* host) {
  return [host](uint64_t n, const std::function<void(uint64_t)>& body) { bp::ParallelFor(host, n, body); };
}

// On the caller.
inline Parallel OnOneThread() {
  return [](uint64_t n, const std::function<void(uint64_t)>& body) {
    for (uint64_t i = 0; i < n; ++i) body(i);
  };
}

// Calls body(i) for pieces that touch n numbers in all: on the caller where that is not worth a hand-over to another thread.
template <class Body>
void ForPieces(const Parallel& parallel, int64_t pieces, int64_t n, Body&& body) {
  constexpr int64_t kWorth = 16'384;
  n < kWorth ? OnOneThread()(static_cast<uint64_t>(pieces), body) : parallel(static_cast<uint64_t>(pieces), body);
}

// Calls body(begin, end) for parts of n numbers that are worth a hand-over to another thread, as long as their results do not
// depend on the cut.
template <class Body>
void ForNumbers(const Parallel& parallel, int64_t n, Body&& body) {
  constexpr int64_t kWorth = 8192;
  constexpr int64_t kLine = 16;  // floats: no two threads write into one cache line of an aligned buffer
  if (n < kWorth) return body(int64_t{0}, n);
  // Halves, because two networks lie behind each other and each thread has one of them in its caches.
  const int64_t lines = PartsOfAtMost(kLine, n), parts = 2 * PartsOfAtMost(kWorth, n);
  parallel(static_cast<uint64_t>(parts), [&](uint64_t i) {
    const Part part = PartOf(lines, parts, static_cast<int64_t>(i));
    body(part.begin * kLine, std::min(part.end * kLine, n));
  });
}

}  // namespace backplane::on_policy
