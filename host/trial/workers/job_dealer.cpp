#include "workers/job_dealer.hpp"

#include <numeric>

namespace backplane {

void JobDealer::Start(JobQueue* queue, uint64_t jobs, size_t workers) {
  queue_ = queue;
  jobs_ = jobs;
  finished_ = dealt_ = 0;
  hands_.assign(workers, {});
  again_.clear();
  ended_.assign(jobs, false);
}

// While many jobs remain, a worker has twice as many jobs as it plays, so that its rows never wait for an answer. Towards the
// end, it has only as many as it plays, because waiting jobs could have ended on other workers.
std::vector<uint64_t> JobDealer::Deal(size_t i) {
  Hand& hand = hands_[i];
  const uint64_t playing = std::accumulate(hands_.begin(), hands_.end(), uint64_t{0},
                                           [](uint64_t sum, const Hand& one) { return sum + one.window; });
  const uint64_t left = jobs_ - dealt_ + again_.size();
  const uint64_t most = left > 2 * playing ? 2 * hand.window : hand.window;
  std::vector<uint64_t> jobs;
  while (hand.jobs.size() < most) {
    if (!again_.empty()) {
      jobs.push_back(again_.back());
      again_.pop_back();
    } else if (const std::optional<uint64_t> job = queue_->Take()) {
      jobs.push_back(*job);
      ++dealt_;
    } else {
      break;
    }
    hand.jobs.insert(jobs.back());
  }
  return jobs;
}

bool JobDealer::Finish(size_t i, uint64_t job) {
  if (hands_[i].jobs.erase(job) == 0) return false;
  ended_[job] = true;
  ++finished_;
  queue_->Finish(job);
  return true;
}

uint64_t JobDealer::Lose(size_t i) {
  if (i >= hands_.size()) return 0;  // before the first evaluation
  Hand& hand = hands_[i];
  again_.insert(again_.end(), hand.jobs.rbegin(), hand.jobs.rend());
  const uint64_t lost = hand.jobs.size();
  hand = {};
  return lost;
}

void JobDealer::GiveBack(uint64_t candidates, uint64_t episodes_each) {
  queue_->StartEmpty(candidates, episodes_each);
  for (uint64_t job = 0; job < jobs_; ++job)
    if (!ended_[job]) queue_->Give(job);
  queue_->Close();
}

}  // namespace backplane
