// The threads of an open env, and how they share its rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "rollout/pool.hpp"

namespace backplane {

// Rounding and flush-to-zero as the host's own threads have them, for as long as it lives: an embedding process may compute in
// other modes, and an env's numbers must not depend on that.
class HostFloatMode {
 public:
  HostFloatMode();
  ~HostFloatMode();
  HostFloatMode(const HostFloatMode&) = delete;

 private:
  uint64_t before_;
};

class RowThreads {
 public:
  using Work = std::function<void(uint64_t begin, uint64_t end)>;

  // Throws TrialFailure where a thread cannot be started. The threads take no signals: they are the caller's.
  RowThreads(uint64_t rows, unsigned threads);
  ~RowThreads();
  RowThreads(const RowThreads&) = delete;

  unsigned threads() const { return pool_ ? pool_->threads() : 1; }
  // Calls `work` with ranges that make up all rows, on all threads, the calling one among them. Throws what the range with the
  // lowest rows threw; the others are worked on all the same.
  void Run(const Work& work);

  // Runs `job` on another thread, which calls Run in the place of this one; Await returns when it is through. One at a time.
  void Send(std::function<void()> job);
  void Await();  // throws what the job threw
  bool sent() const { return sent_; }

 private:
  struct alignas(64) Block {
    std::atomic<uint64_t> next{0};
    uint64_t end = 0;
  };
  void RunBlocks(unsigned first, const Work& work);
  void Try(uint64_t begin, uint64_t end, const Work& work) noexcept;
  void Drive();

  const uint64_t rows_;
  uint64_t piece_ = 0;
  std::optional<RunnerPool> pool_;  // none for one thread
  std::deque<Block> blocks_;        // one for each thread
  std::mutex mutex_;                // guards the next two
  std::exception_ptr failure_;
  uint64_t failed_row_ = 0;

  std::thread driver_;
  std::atomic<uint32_t> turn_{0};  // odd: the driver's
  std::function<void()> job_;      // empty in the driver's turn: the end
  std::exception_ptr job_failure_;
  bool sent_ = false;
};

}  // namespace backplane
