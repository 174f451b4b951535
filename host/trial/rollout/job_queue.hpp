// Hands out the jobs of an evaluation of candidates. A job is one episode of one candidate. Jobs are numbered candidate-major
// and handed out in that order to the first free row. Lock-free. In a worker process, jobs arrive one by one and keep that
// order.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace backplane {

class JobQueue {
 public:
  // `in_flight`: maximum number of candidates that have begun but not finished; 0: all. No row may hold a job. [control]
  void Start(uint64_t candidates, uint64_t episodes_each, uint64_t in_flight);
  // Starts without jobs: Give adds them until Close. The giver limits the candidates in flight. [control]
  void StartEmpty(uint64_t candidates, uint64_t episodes_each);
  // Called by one thread at a time, while others may Take. False: the job does not exist, or the queue is full.
  bool Give(uint64_t job);
  void Close() { closed_ = true; }  // ends the supply; [any]
  // Absent: all are taken, or the maximum number of candidates is in flight. [any]
  std::optional<uint64_t> Take();
  // True if Take would have returned a job just now. [any]
  bool HasJob() const { return MayTake(next_.load()); }
  // True if this may have changed the next Take, or finished the last job. [any]
  bool Finish(uint64_t job);
  bool finished() const { return closed_.load() && finished_jobs_.load() == given_.load(); }  // all of them; [any]

 private:
  void Start(uint64_t candidates, uint64_t episodes_each);
  bool MayTake(uint64_t n) const;

  uint64_t jobs_ = 0, episodes_ = 1, in_flight_ = 0, room_ = 0;
  std::vector<uint64_t> order_;     // the n-th job to hand out; empty: n
  std::atomic<uint64_t> given_{0};  // jobs that may be taken
  std::atomic<bool> closed_{true};
  std::atomic<uint64_t> next_{0}, finished_jobs_{0}, finished_candidates_{0};
  std::unique_ptr<std::atomic<uint64_t>[]> left_;  // [candidates] unfinished jobs
};

}  // namespace backplane
