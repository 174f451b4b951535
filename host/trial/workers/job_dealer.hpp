// Who of several workers plays which jobs of an evaluation. Each gets some at first and more as its own end, so that a fast one
// plays more; the jobs of one that is gone go to the others. What a job gives does not depend on who plays it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "rollout/job_queue.hpp"

namespace backplane {

class JobDealer {
 public:
  // The jobs of a started queue, which outlives the turn, for so many workers.
  void Start(JobQueue* queue, uint64_t jobs, size_t workers);
  // Worker `i` takes part and plays `window` jobs side by side.
  void Join(size_t i, uint64_t window) { hands_[i].window = window; }
  // What `i` is to play beside what it has.
  std::vector<uint64_t> Deal(size_t i);
  bool HasJobs(size_t i) const { return !hands_[i].jobs.empty(); }
  // False: it was not dealt this job, or has ended it already.
  bool Finish(size_t i, uint64_t job);
  // `i` is gone; what it had comes back. How many jobs that are.
  uint64_t Lose(size_t i);
  bool finished() const { return finished_ == jobs_; }
  // Nobody is left: the jobs that are not finished are in the queue again.
  void GiveBack(uint64_t candidates, uint64_t episodes_each);

 private:
  struct Hand {
    uint64_t window = 0;
    std::set<uint64_t> jobs;
  };

  JobQueue* queue_ = nullptr;
  uint64_t jobs_ = 0, finished_ = 0, dealt_ = 0;
  std::vector<Hand> hands_;
  std::vector<uint64_t> again_;  // of those that are gone
  std::vector<bool> ended_;      // [jobs]
};

}  // namespace backplane
