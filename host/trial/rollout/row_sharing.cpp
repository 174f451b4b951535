#include "rollout/row_sharing.hpp"

#include <algorithm>

namespace backplane {

void RunnerRows::Reserve(uint64_t n) {
  playing.reserve(n);
  free.reserve(n);
  runs.reserve(n);
}

void RunnerRows::Play(uint64_t row) { playing.insert(std::upper_bound(playing.begin(), playing.end(), row), row); }

void RunnerRows::FindRuns() {
  runs.clear();
  for (const uint64_t row : playing) {
    if (!runs.empty() && runs.back().end == row)
      ++runs.back().end;
    else
      runs.push_back({row, row + 1});
  }
}

RowSharing::RowSharing(uint64_t rows, unsigned runners) : rows_(rows), runners_(runners) {
  for (RunnerRows& one : runners_) one.Reserve(rows);
  waiting_.reserve(runners);
}

void RowSharing::Divide(uint64_t most) {
  waiting_.clear();
  waiting_count_ = 0;
  for (uint64_t i = 0; i < runners_.size(); ++i) {
    const uint64_t begin = i * rows_ / runners_.size(), end = (i + 1) * rows_ / runners_.size();
    RunnerRows& one = runners_[i];
    one.playing.clear();
    one.runs.clear();
    one.free.clear();
    one.whole = {};
    // The last one in `free` is played first.
    for (uint64_t row = std::min(end, begin + most); row-- > begin;) one.free.push_back(row);
  }
}

void RowSharing::Await(RunnerRows& mine, const std::function<bool()>& over) {
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  waiting_count_ = waiting_.size();
  changed_.wait(lock, [&] { return !mine.playing.empty() || over(); });
  StopWaiting(&mine);
}

void RowSharing::StopWaiting(const RunnerRows* mine) {
  std::erase(waiting_, mine);
  waiting_count_ = waiting_.size();
}

void RowSharing::Share(RunnerRows& mine) {
  if (mine.playing.size() < 2) return;
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return;
  RunnerRows& other = *waiting_.back();
  StopWaiting(&other);
  const auto half = mine.playing.begin() + static_cast<int64_t>((mine.playing.size() + 1) / 2);
  other.playing.assign(half, mine.playing.end());
  other.FindRuns();
  mine.playing.erase(half, mine.playing.end());
  mine.FindRuns();
  changed_.notify_all();
}

// A waiting runner registers before it checks the condition, so either it sees the change or this function sees it.
void RowSharing::Wake() {
  if (waiting_count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace backplane
