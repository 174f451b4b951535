// Divides rows among runners. A runner has rows in play, batched into few calls, and free ones. When jobs run out, an idle
// runner gets half of another's rows, so that runners share the last episodes as well.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace backplane {

struct RowRange {
  uint64_t begin = 0, end = 0;
};

struct alignas(64) RunnerRows {
  std::vector<uint64_t> playing;  // ascending
  std::vector<uint64_t> free;
  std::vector<RowRange> runs;  // of neighbours among `playing`
  RowRange whole;              // the rows the learner acts on; empty: the runs

  void Reserve(uint64_t n);
  void Play(uint64_t row);  // adds it; runs are void until FindRuns
  void FindRuns();
};

class RowSharing {
 public:
  RowSharing(uint64_t rows, unsigned runners);

  // Gives each runner a block of neighbouring rows, of which at most `most` are used, all free. No row may be in play.
  // [control]
  void Divide(uint64_t most);
  RunnerRows& operator[](unsigned runner) { return runners_[runner]; }
  // Blocks while `mine` plays no row, until it gets another runner's rows or `over` returns true. Checks again after each Wake.
  // [rows]
  void Await(RunnerRows& mine, const std::function<bool()>& over);
  // True if a runner waits, so that it is time to Share.
  bool wanted() const { return waiting_count_.load(std::memory_order_relaxed) > 0; }  // [any]
  // Gives half of the rows that `mine` plays to a waiting runner, if that is at least one row each. That runner may then have
  // more rows than its block, because it keeps its free ones. [rows]
  void Share(RunnerRows& mine);
  // Wakes all waiting runners. Call it after changing the state that `over` reads. [any]
  void Wake();

 private:
  void StopWaiting(const RunnerRows* mine);

  const uint64_t rows_;
  std::vector<RunnerRows> runners_;
  std::mutex mutex_;  // guards waiting_ and the rows of its runners
  std::condition_variable changed_;
  std::vector<RunnerRows*> waiting_;
  std::atomic<size_t> waiting_count_{0};
};

}  // namespace backplane
