// Deals the jobs of an evaluation to several workers. Each gets some at first and more as its own end, so a fast one plays
// more. Jobs of a lost worker go to the others. A job's result does not depend on its worker.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "rollout/job_queue.hpp"

namespace backplane {

class JobDealer {
 public:
  // Deals the jobs of a started queue to so many workers. The queue outlives the turn.
  void Start(JobQueue* queue, uint64_t jobs, size_t workers);
  // Worker `i` takes part and plays `window` jobs concurrently.
  void Join(size_t i, uint64_t window) { hands_[i].window = window; }
  // Additional jobs for worker `i`.
  std::vector<uint64_t> Deal(size_t i);
  bool HasJobs(size_t i) const { return !hands_[i].jobs.empty(); }
  // False: it was not dealt this job, or has ended it already.
  bool Finish(size_t i, uint64_t job);
  // Takes back the jobs of lost worker `i`. Returns their number.
  uint64_t Lose(size_t i);
  bool finished() const { return finished_ == jobs_; }
  // Puts all unfinished jobs back into the queue, after all workers are lost.
  void GiveBack(uint64_t candidates, uint64_t episodes_each);

 private:
  struct Hand {
    uint64_t window = 0;
    std::set<uint64_t> jobs;
  };

  JobQueue* queue_ = nullptr;
  uint64_t jobs_ = 0, finished_ = 0, dealt_ = 0;
  std::vector<Hand> hands_;
  std::vector<uint64_t> again_;  // taken back from lost workers
  std::vector<bool> ended_;      // [jobs]
};

}  // namespace backplane
