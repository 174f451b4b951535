#include "embed/row_threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include "rollout/failure.hpp"
#include "rollout/process_state.hpp"

namespace backplane {
namespace {

constexpr uint64_t kPiecesEach = 4;     // per thread's block: few calls, and a short wait at the end
constexpr uint64_t kFlagsOfALine = 64;  // rows whose flags share a cache line

// While it lives, signals are blocked, so a thread that starts now never handles one.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

#if defined(__x86_64__)
HostFloatMode::HostFloatMode() : before_(__builtin_ia32_stmxcsr()) {
  using namespace process_state_detail;
  if (FloatChanged()) __builtin_ia32_ldmxcsr((static_cast<uint32_t>(before_) & ~kControlBits) | kCalm);
}
HostFloatMode::~HostFloatMode() {
  const auto before = static_cast<uint32_t>(before_);
  if (((before ^ __builtin_ia32_stmxcsr()) & process_state_detail::kControlBits) != 0) __builtin_ia32_ldmxcsr(before);
}
#elif defined(__aarch64__)
HostFloatMode::HostFloatMode() {
  asm volatile("mrs %0, fpcr" : "=r"(before_));
  if (before_ != 0) asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
}
HostFloatMode::~HostFloatMode() {
  if (before_ != 0) asm volatile("msr fpcr, %0" : : "r"(before_));
}
#else
HostFloatMode::HostFloatMode() : before_(0) {}
HostFloatMode::~HostFloatMode() = default;
#endif

RowThreads::RowThreads(uint64_t rows, unsigned threads) : rows_(rows) {
  if (threads < 2) return;
  piece_ = std::max<uint64_t>(1, rows / (threads * kPiecesEach));
  if (piece_ > kFlagsOfALine) piece_ -= piece_ % kFlagsOfALine;
  blocks_.resize(threads);
  for (uint64_t i = 0; i < threads; ++i) blocks_[i].end = rows * (i + 1) / threads;
  const SignalsWait wait;
  pool_.emplace(threads);
}

RowThreads::~RowThreads() {
  if (!driver_.joinable()) return;
  job_ = nullptr;
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_one();
  driver_.join();
}

void RowThreads::Run(const Work& work) {
  failure_ = nullptr;
  if (!pool_) {
    Try(0, rows_, work);
  } else {
    for (size_t i = 0; i < blocks_.size(); ++i)
      blocks_[i].next.store(i == 0 ? 0 : blocks_[i - 1].end, std::memory_order_relaxed);
    const auto part = [&](unsigned runner) { RunBlocks(runner, work); };
    const std::function<void(unsigned)> job = std::ref(part);  // a reference needs no allocation
    pool_->Run(pool_->threads(), job, [] {});
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// The thread's own block, then the rest of the others' blocks.
void RowThreads::RunBlocks(unsigned first, const Work& work) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    Block& block = blocks_[(first + i) % blocks_.size()];
    for (uint64_t begin; (begin = block.next.fetch_add(piece_, std::memory_order_relaxed)) < block.end;)
      Try(begin, std::min(begin + piece_, block.end), work);
  }
}

void RowThreads::Try(uint64_t begin, uint64_t end, const Work& work) noexcept {
  try {
    const HostFloatMode mode;
    work(begin, end);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (failure_ && failed_row_ < begin) return;
    failure_ = std::current_exception();
    failed_row_ = begin;
  }
}

void RowThreads::Send(std::function<void()> job) {
  if (!driver_.joinable()) {
    const SignalsWait wait;
    try {
      driver_ = std::thread([this] { Drive(); });
    } catch (const std::system_error& e) {
      throw TrialFailure(BP_E_OOM_HOST, "", std::string("cannot start a thread for the step: ") + e.code().message());
    }
  }
  job_ = std::move(job);
  sent_ = true;
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_one();
}

void RowThreads::Await() {
  for (uint32_t turn; (turn = turn_.load(std::memory_order_acquire)) % 2 == 1;) turn_.wait(turn, std::memory_order_acquire);
  sent_ = false;
  if (job_failure_) std::rethrow_exception(std::exchange(job_failure_, nullptr));
}

void RowThreads::Drive() {
  for (uint32_t turn = 0;; ++turn) {
    turn_.wait(turn, std::memory_order_acquire);
    turn = turn_.load(std::memory_order_acquire);
    if (!job_) return;
    try {
      job_();
    } catch (...) {
      job_failure_ = std::current_exception();
    }
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_one();
  }
}

}  // namespace backplane
