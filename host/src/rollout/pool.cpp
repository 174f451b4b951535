#include "rollout/pool.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "rollout/clocks.hpp"
#include "rollout/cores.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr int64_t kSpinNs = 20'000;

// Monitors and libraries start threads from the calling one, which must not inherit its core: its mask comes back after a Run.
class AffinityKeeper {
 public:
  AffinityKeeper() : known_(pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0) {}
  ~AffinityKeeper() {
    if (known_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  AffinityKeeper(const AffinityKeeper&) = delete;
  bool known() const { return known_; }  // false: what is changed stays changed

 private:
  cpu_set_t before_;
  bool known_;
};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

RunnerPool::RunnerPool(unsigned threads, bool pin) {
  if (pin) {
    if (threads > GrantedCores())
      throw TrialFailure(
          BP_E_CONFIG, "",
          fmt::format("rollout.pin_threads wants a core for each of {} threads, and {} are granted", threads, GrantedCores()));
    cpus_ = GrantedCpus();
  }
  runners_.resize(threads);
  for (unsigned i = 1; i < threads; ++i) {
    try {
      runners_[i].thread = std::thread([this, i] { Work(i); });
    } catch (const std::system_error& e) {
      Stop();
      throw TrialFailure(
          BP_E_CONFIG, "",
          fmt::format("rollout.threads: wanted {} threads (auto: one for each core granted), found room for {}: {}; set "
                      "it to {} or less, or raise the limit on processes or memory (ulimit -u, ulimit -v, pids.max)",
                      threads, i, e.code().message(), i));
    } catch (...) {
      Stop();
      throw;
    }
  }
}

RunnerPool::~RunnerPool() { Stop(); }

void RunnerPool::Stop() {
  stop_ = true;
  for (Runner& runner : runners_) {
    if (!runner.thread.joinable()) continue;
    Wake(runner);
    runner.thread.join();
  }
}

void RunnerPool::Wake(Runner& runner) {
  runner.round.fetch_add(1, std::memory_order_release);
  runner.round.notify_one();
}

PoolUse RunnerPool::Run(unsigned threads, const std::function<void(unsigned)>& job, const std::function<void()>& waiting) {
  const int64_t start = NowNs();
  job_ = &job;
  busy_.store(threads - 1, std::memory_order_relaxed);
  for (unsigned i = 1; i < threads; ++i) Wake(runners_[i]);
  {
    std::optional<AffinityKeeper> keeper;
    if (!cpus_.empty()) keeper.emplace();
    if (keeper && keeper->known()) Pin(0);
    TimedJob(0);
  }
  waiting();
  while (const uint32_t left = busy_.load(std::memory_order_acquire)) AwaitChange(busy_, left);
  job_ = nullptr;

  int64_t sum = 0, most = 1;
  for (unsigned i = 0; i < threads; ++i) sum += runners_[i].cpu_ns, most = std::max(most, runners_[i].cpu_ns);
  const double wall = static_cast<double>(std::max<int64_t>(NowNs() - start, 1)), n = threads;
  return {static_cast<double>(sum) / n / static_cast<double>(most), static_cast<double>(sum) / (n * wall),
          static_cast<double>(sum) * 1e-9};
}

void RunnerPool::Work(unsigned index) {
  if (!cpus_.empty()) Pin(index);
  const std::atomic<uint32_t>& round = runners_[index].round;
  for (uint32_t seen = 0;;) {
    AwaitChange(round, seen);
    seen = round.load(std::memory_order_acquire);
    if (stop_) return;
    TimedJob(index);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void RunnerPool::TimedJob(unsigned index) {
  const int64_t before = ThreadCpuNs();
  (*job_)(index);
  runners_[index].cpu_ns = ThreadCpuNs() - before;
}

// Returns when `value` may have changed.
void RunnerPool::AwaitChange(const std::atomic<uint32_t>& value, uint32_t old) const {
  if (!cpus_.empty())
    for (const int64_t end = NowNs() + kSpinNs; NowNs() < end; Pause())
      if (value.load(std::memory_order_acquire) != old) return;
  value.wait(old, std::memory_order_acquire);
}

void RunnerPool::Pin(unsigned index) const {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus_[index], &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

}  // namespace backplane
