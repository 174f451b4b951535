#include "rollout/pool.hpp"

namespace backplane {

RunnerPool::RunnerPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i) workers_.emplace_back([this, i] { Work(i); });
}

RunnerPool::~RunnerPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void RunnerPool::Run(const std::function<void(unsigned)>& job, const std::function<void()>& waiting) {
  if (!workers_.empty()) {
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      busy_ = static_cast<unsigned>(workers_.size());
      ++round_;
    }
    start_.notify_all();
  }
  job(0);
  waiting();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void RunnerPool::Work(unsigned index) {
  uint64_t seen = 0;
  for (;;) {
    const std::function<void(unsigned)>* job;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      job = job_;
    }
    (*job)(index);
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace backplane
