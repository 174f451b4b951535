// Divides one piece of work among threads. Each thread takes its own pieces first, because they are still in its caches. A late
// thread finds the rest taken or the gate closed, and delays no other thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>

#include "rollout/clocks.hpp"

namespace backplane {

class SharedPieces {
 public:
  explicit SharedPieces(unsigned threads) : queues_(threads) {}

  // Opens the gate: thread t < `threads` begins with the t-th of equal parts of n pieces, and takes pieces of others only after
  // `grace_ns`. No thread may be inside.
  void Open(uint64_t n, unsigned threads, int64_t grace_ns) {
    threads_ = threads;
    grace_ns_ = grace_ns;
    for (unsigned t = 0; t < threads; ++t) {
      queues_[t].next.store(n * t / threads, std::memory_order_relaxed);
      queues_[t].end = n * (t + 1) / threads;
    }
    gate_.store(kOpen, std::memory_order_release);
  }
  // False if the gate is closed; true: Leave must follow.
  bool Enter() {
    uint32_t seen = gate_.load(std::memory_order_acquire);
    while (seen & kOpen) {
      if (gate_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
    }
    return false;
  }
  void Leave() {
    if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.notify_one();
  }
  // Calls body(i) for free pieces until none is left. `thread` takes its own part first.
  template <class Body>
  void Take(unsigned thread, Body&& body) {
    TakeFrom(queues_[thread], body);
    if (grace_ns_ > 0) AwaitTheirs();
    for (unsigned k = 1; k < threads_; ++k) TakeFrom(queues_[(thread + k) % threads_], body);
  }
  // Closes the gate, and returns the word that becomes 0 when all threads have left.
  const std::atomic<uint32_t>& Close() {
    gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
    return gate_;
  }

 private:
  static constexpr uint32_t kOpen = 1u << 31;
  struct alignas(64) Queue {
    bool empty() const { return next.load(std::memory_order_relaxed) >= end; }
    std::atomic<uint64_t> next{0};
    uint64_t end = 0;
  };

  template <class Body>
  static void TakeFrom(Queue& queue, Body& body) {
    while (!queue.empty()) {  // avoids the write if the queue is empty
      const uint64_t i = queue.next.fetch_add(1, std::memory_order_relaxed);
      if (i < queue.end) body(i);
    }
  }
  // Gives awake threads a moment to notice their work.
  void AwaitTheirs() const {
    const auto all_taken = [this] {
      for (unsigned t = 0; t < threads_; ++t)
        if (!queues_[t].empty()) return false;
      return true;
    };
    if (all_taken()) return;
    for (const int64_t end = NowNs() + grace_ns_; !all_taken() && NowNs() < end;) {
    }
  }

  alignas(64) std::atomic<uint32_t> gate_{0};  // kOpen, and the number of threads inside
  unsigned threads_ = 0;
  int64_t grace_ns_ = 0;
  std::deque<Queue> queues_;  // a deque, because queues cannot be moved
};

}  // namespace backplane
