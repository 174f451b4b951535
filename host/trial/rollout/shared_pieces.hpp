// Pieces of one piece of work that several threads take, each its own ones first: what a thread worked on last time is still in
// its caches. Who is late finds the rest taken, or the gate closed, and nobody waits for it.
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

  // Lets threads in: thread t < `threads` begins with the t-th of equal parts of n pieces, and leaves the others theirs for
  // `grace_ns` more. While nobody is inside.
  void Open(uint64_t n, unsigned threads, int64_t grace_ns) {
    threads_ = threads;
    grace_ns_ = grace_ns;
    for (unsigned t = 0; t < threads; ++t) {
      queues_[t].next.store(n * t / threads, std::memory_order_relaxed);
      queues_[t].end = n * (t + 1) / threads;
    }
    gate_.store(kOpen, std::memory_order_release);
  }
  // False where the gate is closed; true: Leave must follow.
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
  // Calls body(i) for pieces that nobody has taken, those of `thread` first, until none is left.
  template <class Body>
  void Take(unsigned thread, Body&& body) {
    TakeFrom(queues_[thread], body);
    if (grace_ns_ > 0) AwaitTheirs();
    for (unsigned k = 1; k < threads_; ++k) TakeFrom(queues_[(thread + k) % threads_], body);
  }
  // Lets nobody in any longer, and returns the word that is 0 once all who were have left.
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
    while (!queue.empty()) {  // who finds nothing writes nothing
      const uint64_t i = queue.next.fetch_add(1, std::memory_order_relaxed);
      if (i < queue.end) body(i);
    }
  }
  // A thread that is awake needs a moment until it sees that there is something.
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

  alignas(64) std::atomic<uint32_t> gate_{0};  // kOpen, and how many are inside
  unsigned threads_ = 0;
  int64_t grace_ns_ = 0;
  std::deque<Queue> queues_;  // which cannot be moved
};

}  // namespace backplane
