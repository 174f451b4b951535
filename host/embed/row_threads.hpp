// The threads of an open env and their division of its rows.
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

// Sets rounding and flush-to-zero to the modes of the host's own threads during its lifetime. An embedding process may use
// other modes, and an env's numbers must not depend on them.
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

  // Throws TrialFailure if a thread cannot be started. The threads block all signals, which belong to the caller.
  RowThreads(uint64_t rows, unsigned threads);
  ~RowThreads();
  RowThreads(const RowThreads&) = delete;

  unsigned threads() const { return pool_ ? pool_->threads() : 1; }
  // Calls `work` with ranges that cover all rows, on all threads including the caller's. Rethrows the exception of the range
  // with the lowest rows, after all other ranges.
  void Run(const Work& work);

  // Runs `job` on another thread, which calls Run instead of this one; Await returns at its end. One job at a time.
  void Send(std::function<void()> job);
  void Await();  // rethrows the job's exception
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
  std::optional<RunnerPool> pool_;  // empty for one thread
  std::deque<Block> blocks_;        // one per thread
  std::mutex mutex_;                // guards the next two members
  std::exception_ptr failure_;
  uint64_t failed_row_ = 0;

  std::thread driver_;
  std::atomic<uint32_t> turn_{0};  // odd: the driver's turn
  std::function<void()> job_;      // empty in the driver's turn: the end
  std::exception_ptr job_failure_;
  bool sent_ = false;
};

}  // namespace backplane
