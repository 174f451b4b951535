#include "rollout/job_queue.hpp"

namespace backplane {

void JobQueue::Start(uint64_t candidates, uint64_t episodes_each) {
  jobs_ = candidates * episodes_each;
  episodes_ = episodes_each;
  order_.clear();
  if (room_ < candidates) {
    left_ = std::make_unique<std::atomic<uint64_t>[]>(candidates);
    room_ = candidates;
  }
  for (uint64_t c = 0; c < candidates; ++c) left_[c].store(episodes_each, std::memory_order_relaxed);
  next_ = finished_jobs_ = finished_candidates_ = 0;
}

void JobQueue::Start(uint64_t candidates, uint64_t episodes_each, uint64_t in_flight) {
  Start(candidates, episodes_each);
  in_flight_ = in_flight > 0 ? in_flight : candidates;
  given_ = jobs_;
  closed_ = true;
}

void JobQueue::StartEmpty(uint64_t candidates, uint64_t episodes_each) {
  Start(candidates, episodes_each);
  in_flight_ = candidates;
  order_.resize(jobs_);
  given_ = 0;
  closed_ = false;
}

bool JobQueue::Give(uint64_t job) {
  const uint64_t n = given_.load();
  if (job >= jobs_ || n >= jobs_) return false;
  order_[n] = job;
  given_ = n + 1;
  return true;
}

// The first job of a candidate puts it in flight. Both counts only grow, so stale values may reject a job but never give one
// too early.
bool JobQueue::MayTake(uint64_t n) const {
  if (n >= given_.load()) return false;
  if (!order_.empty()) return true;
  return n % episodes_ != 0 || n / episodes_ - finished_candidates_.load() < in_flight_;
}

std::optional<uint64_t> JobQueue::Take() {
  uint64_t n = next_.load();
  while (MayTake(n))
    if (next_.compare_exchange_weak(n, n + 1)) return order_.empty() ? n : order_[n];
  return std::nullopt;
}

bool JobQueue::Finish(uint64_t job) {
  const bool candidate_done = left_[job / episodes_].fetch_sub(1) == 1;
  if (candidate_done) ++finished_candidates_;
  ++finished_jobs_;
  return finished() || (candidate_done && in_flight_ < jobs_ / episodes_);
}

}  // namespace backplane
