// Work cut into pieces that do not depend on how many threads run them.
#pragma once

#include <cstdint>
#include <functional>

#include "backplane/parallel.hpp"

namespace backplane::on_policy {

// Runs body(i) once for each i < n and returns when all have run, in any order or at the same time.
using Parallel = std::function<void(uint64_t n, const std::function<void(uint64_t)>& body)>;

// On the cores that the host granted.
inline Parallel OnHost(const bp_host* host) {
  return [host](uint64_t n, const std::function<void(uint64_t)>& body) { bp::ParallelFor(host, n, body); };
}

}  // namespace backplane::on_policy
