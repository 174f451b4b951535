// Divides work on many independent items among the cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>
#include <vector>

namespace backplane {

// Calls `part` with ranges [begin, end) that together are [0, n), at the same time in several threads unless a range would have
// fewer than `least` items. Waits for all, and then rethrows the first exception.
inline void InParts(size_t n, size_t least, const std::function<void(size_t, size_t)>& part) {
  const size_t parts = std::clamp<size_t>(n / std::max<size_t>(least, 1), 1, std::max(std::thread::hardware_concurrency(), 1u));
  if (parts == 1) return part(0, n);
  std::vector<std::future<void>> running;
  for (size_t i = 0; i < parts; ++i)
    running.push_back(std::async(std::launch::async, part, n * i / parts, n * (i + 1) / parts));
  for (std::future<void>& one : running) one.get();
}

}  // namespace backplane
