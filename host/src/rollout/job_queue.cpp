#include "rollout/job_queue.hpp"

namespace backplane {

void JobQueue::Start(uint64_t candidates, uint64_t episodes_each, uint64_t in_flight) {
  jobs_ = candidates * episodes_each;
  episodes_ = episodes_each;
  in_flight_ = in_flight > 0 ? in_flight : candidates;
  if (room_ < candidates) {
    left_ = std::make_unique<std::atomic<uint64_t>[]>(candidates);
    room_ = candidates;
  }
  for (uint64_t c = 0; c < candidates; ++c) left_[c].store(episodes_each, std::memory_order_relaxed);
  next_ = finished_jobs_ = finished_candidates_ = 0;
}

// The first job of a candidate begins it. Both counts only grow, so a stale one refuses a job and never gives one too early.
bool JobQueue::MayTake(uint64_t job) const {
  if (job >= jobs_) return false;
  return job % episodes_ != 0 || job / episodes_ - finished_candidates_.load() < in_flight_;
}

std::optional<uint64_t> JobQueue::Take() {
  uint64_t job = next_.load();
  while (MayTake(job))
    if (next_.compare_exchange_weak(job, job + 1)) return job;
  return std::nullopt;
}

bool JobQueue::Finish(uint64_t job) {
  const bool candidate_done = left_[job / episodes_].fetch_sub(1) == 1;
  if (candidate_done) ++finished_candidates_;
  const bool all_done = ++finished_jobs_ == jobs_;
  return all_done || (candidate_done && in_flight_ < jobs_ / episodes_);
}

}  // namespace backplane
