// Which runner plays which rows. A runner has rows that it plays, side by side in few calls, and free ones. When jobs run out,
// a runner with nothing to play gets half of another's rows, so that the last episodes are shared as well.
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
  RowRange whole;              // what the learner acts on; empty: the runs

  void Reserve(uint64_t n);
  void Play(uint64_t row);  // takes it in; runs are void until FindRuns
  void FindRuns();
};

class RowSharing {
 public:
  RowSharing(uint64_t rows, unsigned runners);

  // Each runner gets its part of the rows, neighbours and free, and `most` of them at the most. Nobody may play. [control]
  void Divide(uint64_t most);
  RunnerRows& operator[](unsigned runner) { return runners_[runner]; }
  // Waits, while `mine` plays nothing, for rows of another runner or until `over` is true: something has changed that Wake told
  // of. [rows]
  void Await(RunnerRows& mine, const std::function<bool()>& over);
  // Somebody waits: time to Share.
  bool wanted() const { return waiting_count_.load(std::memory_order_relaxed) > 0; }  // [any]
  // Gives half of what `mine` plays to one who waits, if that is two rows or more. That one may then have more rows than its
  // part was, as its free ones stay. [rows]
  void Share(RunnerRows& mine);
  // Those who wait look again. To be called after what `over` looks at has changed. [any]
  void Wake();

 private:
  void StopWaiting(const RunnerRows* mine);

  const uint64_t rows_;
  std::vector<RunnerRows> runners_;
  std::mutex mutex_;  // guards waiting_, and what those therein play
  std::condition_variable changed_;
  std::vector<RunnerRows*> waiting_;
  std::atomic<size_t> waiting_count_{0};
};

}  // namespace backplane
