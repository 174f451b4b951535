// Which job of an evaluation of candidates is played next. A job is one episode of one candidate; jobs are numbered
// candidate-major and handed out in that order, each to whichever row is free first. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace backplane {

class JobQueue {
 public:
  // `in_flight`: candidates that may be begun and not finished at a time; 0: all. Nobody may hold a job. [control]
  void Start(uint64_t candidates, uint64_t episodes_each, uint64_t in_flight);
  // Nothing: all are taken, or as many candidates are in flight as may be. [any]
  std::optional<uint64_t> Take();
  // True if Take would have given a job just now. [any]
  bool HasJob() const { return MayTake(next_.load()); }
  // True if that has changed what Take may give, or whether all are finished. [any]
  bool Finish(uint64_t job);
  bool finished() const { return finished_jobs_.load() == jobs_; }  // all of them; [any]

 private:
  bool MayTake(uint64_t job) const;

  uint64_t jobs_ = 0, episodes_ = 1, in_flight_ = 0, room_ = 0;
  std::atomic<uint64_t> next_{0}, finished_jobs_{0}, finished_candidates_{0};
  std::unique_ptr<std::atomic<uint64_t>[]> left_;  // [candidates] jobs that are not finished
};

}  // namespace backplane
