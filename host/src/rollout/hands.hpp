// Which runner plays which rows. A runner has a hand of rows: those it plays, side by side in few calls, and free ones. When
// jobs run out, a runner whose hand is empty gets half of another's rows, so that the last episodes are shared as well.
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

struct alignas(64) Hand {
  std::vector<uint64_t> rows;  // at play, ascending
  std::vector<uint64_t> free;
  std::vector<RowRange> runs;  // of neighbours among `rows`
  RowRange whole;              // what the learner acts on; empty: the runs

  void Reserve(uint64_t n);
  void Play(uint64_t row);  // takes it in; runs are void until FindRuns
  void FindRuns();
};

class Hands {
 public:
  Hands(uint64_t rows, unsigned runners);

  // Each runner gets its share of neighbouring rows, free, and `most` of them at the most. Nobody may play. [control]
  void Deal(uint64_t most);
  Hand& operator[](unsigned runner) { return hands_[runner]; }
  // Waits, with nothing at play in `hand`, for rows of another hand or until `over` is true: something has changed that
  // Wake told of. [rows]
  void Await(Hand& hand, const std::function<bool()>& over);
  // Somebody waits: time to Share.
  bool wanted() const { return waiting_count_.load(std::memory_order_relaxed) > 0; }  // [any]
  // Gives half of what is at play to one who waits, if there are two rows or more. That one may then hold more rows than were
  // dealt to it, as its free ones stay. [rows]
  void Share(Hand& hand);
  // Those who wait look again. To be called after what `over` looks at has changed. [any]
  void Wake();

 private:
  void StopWaiting(const Hand* hand);

  const uint64_t rows_;
  std::vector<Hand> hands_;
  std::mutex mutex_;  // guards waiting_, and the rows of the hands therein
  std::condition_variable changed_;
  std::vector<Hand*> waiting_;
  std::atomic<size_t> waiting_count_{0};
};

}  // namespace backplane
