// Which job of an evaluation of candidates is played next. A job is one episode of one candidate; jobs are numbered
// candidate-major and handed out in that order, each to whichever row is free first. Lock-free. In a process that plays jobs of
// another's evaluation they come one by one, in the order in which they are given.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace backplane {

class JobQueue {
 public:
  // `in_flight`: candidates that may be begun and not finished at a time; 0: all. Nobody may hold a job. [control]
  void Start(uint64_t candidates, uint64_t episodes_each, uint64_t in_flight);
  // With none of its jobs: Give says which, until Close. How many candidates are in flight is then the giver's to say.
  // [control]
  void StartEmpty(uint64_t candidates, uint64_t episodes_each);
  // By one thread at a time, while others may Take. False: there is no such job, or there are as many already.
  bool Give(uint64_t job);
  void Close() { closed_ = true; }  // no more come; [any]
  // Nothing: all are taken, or as many candidates are in flight as may be. [any]
  std::optional<uint64_t> Take();
  // True if Take would have given a job just now. [any]
  bool HasJob() const { return MayTake(next_.load()); }
  // True if that has changed what Take may give, or whether all are finished. [any]
  bool Finish(uint64_t job);
  bool finished() const { return closed_.load() && finished_jobs_.load() == given_.load(); }  // all of them; [any]

 private:
  void Start(uint64_t candidates, uint64_t episodes_each);
  bool MayTake(uint64_t n) const;

  uint64_t jobs_ = 0, episodes_ = 1, in_flight_ = 0, room_ = 0;
  std::vector<uint64_t> order_;     // the n-th that is taken; empty: n
  std::atomic<uint64_t> given_{0};  // that may be taken
  std::atomic<bool> closed_{true};
  std::atomic<uint64_t> next_{0}, finished_jobs_{0}, finished_candidates_{0};
  std::unique_ptr<std::atomic<uint64_t>[]> left_;  // [candidates] jobs that are not finished
};

}  // namespace backplane
