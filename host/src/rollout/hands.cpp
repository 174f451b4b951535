#include "rollout/hands.hpp"

#include <algorithm>

namespace backplane {

void Hand::Reserve(uint64_t n) {
  rows.reserve(n);
  free.reserve(n);
  runs.reserve(n);
}

void Hand::Play(uint64_t row) { rows.insert(std::upper_bound(rows.begin(), rows.end(), row), row); }

void Hand::FindRuns() {
  runs.clear();
  for (const uint64_t row : rows) {
    if (!runs.empty() && runs.back().end == row)
      ++runs.back().end;
    else
      runs.push_back({row, row + 1});
  }
}

Hands::Hands(uint64_t rows, unsigned runners) : rows_(rows), hands_(runners) {
  for (Hand& hand : hands_) hand.Reserve(rows);
  waiting_.reserve(runners);
}

void Hands::Deal(uint64_t most) {
  waiting_.clear();
  waiting_count_ = 0;
  for (uint64_t i = 0; i < hands_.size(); ++i) {
    const uint64_t begin = i * rows_ / hands_.size(), end = (i + 1) * rows_ / hands_.size();
    Hand& hand = hands_[i];
    hand.rows.clear();
    hand.runs.clear();
    hand.free.clear();
    hand.whole = {};
    // The last is played first.
    for (uint64_t row = std::min(end, begin + most); row-- > begin;) hand.free.push_back(row);
  }
}

void Hands::Await(Hand& hand, const std::function<bool()>& over) {
  std::unique_lock lock(mutex_);
  waiting_.push_back(&hand);
  waiting_count_ = waiting_.size();
  changed_.wait(lock, [&] { return !hand.rows.empty() || over(); });
  StopWaiting(&hand);
}

void Hands::StopWaiting(const Hand* hand) {
  std::erase(waiting_, hand);
  waiting_count_ = waiting_.size();
}

void Hands::Share(Hand& hand) {
  if (hand.rows.size() < 2) return;
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return;
  Hand& other = *waiting_.back();
  StopWaiting(&other);
  const auto half = hand.rows.begin() + static_cast<int64_t>((hand.rows.size() + 1) / 2);
  other.rows.assign(half, hand.rows.end());
  other.FindRuns();
  hand.rows.erase(half, hand.rows.end());
  hand.FindRuns();
  changed_.notify_all();
}

// Whoever waits has entered himself before he looked at what has changed: either he saw the change, or he is seen here.
void Hands::Wake() {
  if (waiting_count_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace backplane
