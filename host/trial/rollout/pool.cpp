#include "rollout/pool.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "machine/cpu.hpp"
#include "rollout/clocks.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr int64_t kSpinNs = 20'000;
// Spin time between the pieces of an update: longer than the threads' differences, shorter than a time slice.
constexpr int64_t kSharedSpinNs = 100'000;
constexpr int64_t kGraceNs = 5'000;  // two hand-overs between distant cores
constexpr uint32_t kOneJob = 1u << 16;

// Monitors and libraries start threads from the calling one, which must not inherit its core. Restores the mask after a Run.
class AffinityGuard {
 public:
  AffinityGuard() : known_(pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0) {}
  ~AffinityGuard() {
    if (known_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  AffinityGuard(const AffinityGuard&) = delete;
  bool known() const { return known_; }  // false: the mask cannot be restored

 private:
  cpu_set_t before_;
  bool known_;
};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns when `value` may have changed. Sleeps after `spin_ns`.
void AwaitChange(const std::atomic<uint32_t>& value, uint32_t old, int64_t spin_ns) {
  constexpr int kLooksPerClock = 16;
  if (spin_ns > 0) {
    for (const int64_t end = NowNs() + spin_ns; NowNs() < end;) {
      for (int look = 0; look < kLooksPerClock; ++look, Pause())
        if (value.load(std::memory_order_acquire) != old) return;
    }
  }
  value.wait(old, std::memory_order_acquire);
}

// False if the kernel rejects the mask.
bool SetCores(pthread_t thread, const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  return pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

}  // namespace

RunnerPool::RunnerPool(unsigned threads, bool pin)
    : cpus_(GrantedCpus()), pin_(pin), own_cores_(threads > 1 && threads <= GrantedCores()), pieces_(threads) {
  if (pin && threads > GrantedCores())
    throw TrialFailure(
        BP_E_CONFIG, "",
        fmt::format("rollout.pin_threads: expected a core for each of {} threads, got {} cores", threads, GrantedCores()));
  runners_.resize(threads);
  for (unsigned i = 1; i < threads; ++i) {
    try {
      runners_[i].thread = std::thread([this, i] { Work(i); });
    } catch (const std::system_error& e) {
      Stop();
      throw TrialFailure(
          BP_E_CONFIG, "",
          fmt::format("rollout.threads: expected {} threads (auto: one for each granted core), got room for {}: {}; set "
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
    Wake(runner, kOneJob + 1);
    runner.thread.join();
  }
}

// A carry of the lower half must not change the upper one.
void RunnerPool::Wake(Runner& runner, uint32_t change) {
  const uint32_t round = runner.round.load(std::memory_order_relaxed), low = kOneJob - 1;
  runner.round.store(((round & ~low) + (change & ~low)) | ((round + change) & low), std::memory_order_release);
  runner.round.notify_one();
}

PoolUse RunnerPool::Run(unsigned threads, const std::function<void(unsigned)>& job, const std::function<void()>& waiting) {
  const int64_t start = NowNs();
  job_ = &job;
  busy_.store(threads - 1, std::memory_order_relaxed);
  for (unsigned i = 1; i < threads; ++i) Wake(runners_[i], kOneJob);
  {
    std::optional<AffinityGuard> guard;
    if (pin_) guard.emplace();
    if (guard && guard->known()) SetCores(pthread_self(), {cpus_[0]});
    TimedJob(0);
  }
  waiting();
  while (const uint32_t left = busy_.load(std::memory_order_acquire)) AwaitChange(busy_, left, pin_ ? kSpinNs : 0);
  job_ = nullptr;

  int64_t sum = 0, most = 1;
  for (unsigned i = 0; i < threads; ++i) sum += runners_[i].cpu_ns, most = std::max(most, runners_[i].cpu_ns);
  const double wall = static_cast<double>(std::max<int64_t>(NowNs() - start, 1)), n = threads;
  return {static_cast<double>(sum) / n / static_cast<double>(most), static_cast<double>(sum) / (n * wall),
          static_cast<double>(sum) * 1e-9};
}

void RunnerPool::Share(unsigned threads, uint64_t n, const std::function<void(unsigned, SharedPieces&)>& job,
                       const std::function<void()>& waiting) {
  sharing_ = &job;
  pieces_.Open(n, threads, own_cores_ ? kGraceNs : 0);
  if (own_cores_) KeepOwnCores(threads);
  for (unsigned i = 1; i < threads; ++i) Wake(runners_[i], 1);
  job(0, pieces_);
  const std::atomic<uint32_t>& inside = pieces_.Close();
  if (inside.load(std::memory_order_acquire) != 0) {
    waiting();
    while (const uint32_t left = inside.load(std::memory_order_acquire))
      AwaitChange(inside, left, own_cores_ ? kSharedSpinNs : 0);
  }
  sharing_ = nullptr;
}

void RunnerPool::Work(unsigned index) {
  const std::atomic<uint32_t>& round = runners_[index].round;
  int64_t spin_ns = 0;
  for (uint32_t seen = 0;;) {
    AwaitChange(round, seen, spin_ns);
    const uint32_t now = round.load(std::memory_order_acquire);
    if (stop_) return;
    // Run waits for its jobs, so at most one is pending. Shared work may have ended already.
    if (now / kOneJob != seen / kOneJob) {
      KeepTo(index, pin_ ? cpus_[index] : kAny);
      TimedJob(index);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
      spin_ns = pin_ ? kSpinNs : 0;
    } else if (now != seen) {
      ShareWith(index);
      spin_ns = own_cores_ ? kSharedSpinNs : 0;
    }
    seen = now;
  }
}

void RunnerPool::ShareWith(unsigned index) {
  if (!pieces_.Enter()) return;
  (*sharing_)(index, pieces_);
  pieces_.Leave();
}

void RunnerPool::TimedJob(unsigned index) {
  const int64_t before = ThreadCpuNs();
  (*job_)(index);
  runners_[index].cpu_ns = ThreadCpuNs() - before;
}

// The caller stays unpinned, because it has work of its own; the others avoid its core. The caller sets this, because a
// sleeping runner would otherwise wake on the caller's core.
void RunnerPool::KeepOwnCores(unsigned threads) {
  const int callers = sched_getcpu();
  for (unsigned i = 1; i < threads; ++i) KeepTo(i, cpus_[i] == callers ? cpus_[0] : cpus_[i]);
}

void RunnerPool::KeepTo(unsigned index, int core) {
  Runner& runner = runners_[index];
  if (runner.core.load(std::memory_order_relaxed) == core) return;
  if (SetCores(runner.thread.native_handle(), core == kAny ? cpus_ : std::vector{core}))
    runner.core.store(core, std::memory_order_relaxed);
}

}  // namespace backplane
