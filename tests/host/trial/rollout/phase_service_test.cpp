#include "rollout/phase_service.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backplane/plugin.hpp"
#include "plugin/host_services.hpp"
#include "record/phase_groups.hpp"
#include "rollout/parallel.hpp"
#include "rollout/phase_trace.hpp"

namespace backplane {
namespace {

struct Plugin {
  Plugin() { sinks.phase = PhaseService(); }
  HostSinks sinks;
  HostServices services{"learner.x", &sinks};
  const bp_host* host = services.get();
};

void Spend(int64_t ns) {
  for (const int64_t end = NowNs() + ns; NowNs() < end;) {
  }
}
constexpr int64_t kMs = 1'000'000;

TEST(PhaseService, SpanCountsForItsOwnPhaseOnly) {
  Plugin plugin;
  PhaseClock clock;
  const int64_t begin = NowNs();
  clock.Start(Phase::kInfer);
  Spend(kMs);
  {
    const bp::PhaseScope copy(plugin.host, "obs_transfer");
    EXPECT_EQ(clock.current(), Phase::kObsTransfer);
    Spend(2 * kMs);
    {
      const bp::PhaseScope forward(plugin.host, "update_forward");
      Spend(3 * kMs);
    }
    EXPECT_EQ(clock.current(), Phase::kObsTransfer);
    Spend(kMs);
  }
  EXPECT_EQ(clock.current(), Phase::kInfer);
  clock.Stop();
  const int64_t wall = NowNs() - begin;
  EXPECT_GE(clock.ns(Phase::kInfer), kMs);
  EXPECT_GE(clock.ns(Phase::kObsTransfer), 3 * kMs);
  EXPECT_GE(clock.ns(Phase::kUpdateForward), 3 * kMs);
  EXPECT_LE(clock.total_ns(), wall) << "no time counts twice";
  EXPECT_EQ(clock.total_ns(), clock.ns(Phase::kInfer) + clock.ns(Phase::kObsTransfer) + clock.ns(Phase::kUpdateForward));
}

TEST(PhaseService, SpanSplitsTheCallsSpanInTheTrace) {
  Plugin plugin;
  PhaseTrace trace(16);
  PhaseClock clock;
  clock.TraceInto(&trace);
  clock.Start(Phase::kInfer);
  Spend(2 * kMs);
  {
    const bp::PhaseScope copy(plugin.host, "act_transfer");
    Spend(2 * kMs);
  }
  Spend(2 * kMs);
  clock.Stop();
  trace.EndBlock();
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.spans()[0].phase, Phase::kInfer);
  EXPECT_EQ(trace.spans()[1].phase, Phase::kActTransfer);
  EXPECT_EQ(trace.spans()[2].phase, Phase::kInfer);
  for (size_t i = 1; i < 3; ++i)
    EXPECT_EQ(trace.spans()[i].begin_ns, trace.spans()[i - 1].begin_ns + trace.spans()[i - 1].duration_ns);
}

TEST(PhaseService, AnUnknownNameChangesNothing) {
  Plugin plugin;
  PhaseClock clock;
  clock.Start(Phase::kInfer);
  for (const char* name : {"obs_transfers", "", static_cast<const char*>(nullptr)}) {
    const bp::PhaseScope scope(plugin.host, name);
    EXPECT_EQ(clock.current(), Phase::kInfer);
  }
  EXPECT_EQ(clock.current(), Phase::kInfer);
  PhaseService()->leave(plugin.host, 1000);
  EXPECT_EQ(clock.current(), Phase::kInfer) << "a value that enter never returned";
  clock.Stop();
}

TEST(PhaseService, AnExceptionLeaves) {
  Plugin plugin;
  PhaseClock clock;
  clock.Start(Phase::kUpdateBackward);
  try {
    const bp::PhaseScope outer(plugin.host, "update_optim");
    const bp::PhaseScope inner(plugin.host, "obs_transfer");
    throw std::runtime_error("device gone");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(clock.current(), Phase::kUpdateBackward);
  clock.Stop();
}

TEST(PhaseService, AnEvaluationKeepsItsTimeWhole) {
  Plugin plugin;
  PhaseClock clock;
  for (const Phase phase : {Phase::kEval, Phase::kCheckpoint, Phase::kMonitor}) {
    const PhaseSpan span(clock, phase);
    const bp::PhaseScope scope(plugin.host, "obs_transfer");
    EXPECT_EQ(clock.current(), phase);
  }
  EXPECT_EQ(clock.ns(Phase::kObsTransfer), 0);
}

TEST(PhaseService, AThreadThatIsNotTimedDoesNothing) {
  Plugin plugin;
  PhaseClock clock;
  clock.Start(Phase::kInfer);
  std::thread([&] {
    EXPECT_EQ(PhaseClock::OfThisThread(), nullptr);
    const bp::PhaseScope scope(plugin.host, "obs_transfer");
  }).join();
  EXPECT_EQ(clock.current(), Phase::kInfer) << "the other thread's";
  clock.Stop();
  const bp::PhaseScope scope(plugin.host, "obs_transfer");
  EXPECT_EQ(clock.total_ns(), clock.ns(Phase::kInfer));
}

TEST(PhaseService, PiecesOnPoolThreadsHaveTheirOwnSpans) {
  Plugin plugin;
  RunnerPool pool(2);
  std::vector<PhaseClock> clocks(2);
  ParallelFor parallel(pool, clocks);
  std::atomic<int> arrived{0};
  struct Shared {
    Plugin* plugin;
    std::atomic<int>* arrived;
  } shared{&plugin, &arrived};
  {
    const PhaseSpan tick(clocks[0], Phase::kUpdateBackward);
    parallel.Run(
        2,
        [](void* context, uint64_t) {
          const Shared& s = *static_cast<Shared*>(context);
          for (++*s.arrived; *s.arrived < 2;) std::this_thread::yield();
          const bp::PhaseScope forward(s.plugin->host, "update_forward");
          Spend(3 * kMs);
        },
        &shared);
  }
  for (const PhaseClock& clock : clocks) {
    EXPECT_GE(clock.ns(Phase::kUpdateForward), 3 * kMs);
    EXPECT_FALSE(clock.running());
  }
  EXPECT_EQ(clocks[1].total_ns(), clocks[1].ns(Phase::kUpdateForward) + clocks[1].ns(Phase::kUpdateBackward));
}

TEST(PhaseClock, CpuTimeExcludesWaiting) {
  PhaseClock clock;
  clock.Start(Phase::kUpdateBackward);
  for (int64_t cpu = ThreadCpuNs(); ThreadCpuNs() < cpu + 10 * kMs;) {
  }
  clock.Switch(Phase::kSync);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  clock.Stop();
  EXPECT_GE(clock.cpu_ns(Phase::kUpdateBackward), 10 * kMs);
  EXPECT_EQ(clock.cpu_wall_ns(Phase::kUpdateBackward), clock.ns(Phase::kUpdateBackward)) << "a long span is measured";
  EXPECT_EQ(clock.cpu_wall_ns(Phase::kSync), clock.ns(Phase::kSync));
  EXPECT_LT(clock.cpu_ns(Phase::kSync), clock.cpu_wall_ns(Phase::kSync) / 2);
}

TEST(PhaseClock, CpuTimeCoversAllButTheLastMillisecond) {
  PhaseClock clock;
  const int64_t cpu_begin = ThreadCpuNs();
  clock.Start(Phase::kInfer);
  const int64_t begin = clock.since_ns();
  for (bool infer = false; clock.since_ns() < begin + 50 * kMs; infer = !infer) {
    Spend(5000);
    clock.Switch(infer ? Phase::kInfer : Phase::kEnvStep);
  }
  clock.Stop();
  const int64_t cpu = ThreadCpuNs() - cpu_begin;
  const int64_t looked_at = clock.cpu_wall_ns(Phase::kInfer) + clock.cpu_wall_ns(Phase::kEnvStep);
  EXPECT_LE(looked_at, clock.total_ns());
  EXPECT_GE(looked_at, clock.total_ns() - PhaseClock::kCpuEveryNs);
  EXPECT_LE(clock.cpu_ns(Phase::kInfer) + clock.cpu_ns(Phase::kEnvStep), cpu);
  EXPECT_GE(clock.cpu_ns(Phase::kInfer) + clock.cpu_ns(Phase::kEnvStep), cpu - PhaseClock::kCpuEveryNs - kMs / 10);
}

// Like an update: long work, a short phase, long work again. The thread is off its core in half of the long spans.
TEST(PhaseClock, CpuTimeCoversLongSpansAfterShortOnes) {
  PhaseClock clock;
  clock.Start(Phase::kUpdateBackward);
  for (int i = 0; i < 20; ++i) {
    const int64_t cpu = ThreadCpuNs();
    while (ThreadCpuNs() < cpu + 2 * kMs) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    clock.Switch(Phase::kUpdateOptim);
    Spend(20'000);
    clock.Switch(Phase::kUpdateBackward);
  }
  clock.Stop();
  EXPECT_GE(clock.cpu_wall_ns(Phase::kUpdateBackward), clock.ns(Phase::kUpdateBackward) * 9 / 10);
  EXPECT_NEAR(static_cast<double>(clock.cpu_ns(Phase::kUpdateBackward)), 40.0 * kMs, 6.0 * kMs);
}

// Two threads share one core: each waits while the other works.
TEST(PhaseClock, ResetForgetsEarlierWaiting) {
  cpu_set_t cores, one;
  sched_getaffinity(0, sizeof cores, &cores);
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &cores)) CPU_SET(core, &one);
  std::vector<PhaseClock> clocks(2);
  std::latch done(2), read(1);
  const auto work = [&](PhaseClock& clock) {
    sched_setaffinity(0, sizeof one, &one);
    {
      const PhaseSpan span(clock, Phase::kEnvStep);
      for (const int64_t end = ThreadCpuNs() + 50 * kMs; ThreadCpuNs() < end;) {
      }
    }
    done.count_down();
    read.wait();  // the kernel has no times of an ended thread
  };
  const std::jthread first([&] { work(clocks[0]); }), second([&] { work(clocks[1]); });
  done.wait();
  const std::optional<int64_t> before = clocks[0].RunQueueWaitNs();
  clocks[0].Reset();
  const std::optional<int64_t> after = clocks[0].RunQueueWaitNs();
  read.count_down();
  if (!before) GTEST_SKIP() << "this kernel does not count it";
  EXPECT_GT(*before, 10 * kMs);
  EXPECT_LT(*after, *before / 2);
}

TEST(PhaseGroup, EveryPhaseHasOne) {
  const std::array<PhaseGroup, kPhaseCount> wanted = {
      PhaseGroup::kEnvironment, PhaseGroup::kEnvironment, PhaseGroup::kTransfer,   PhaseGroup::kActionSelection,
      PhaseGroup::kTransfer,    PhaseGroup::kUpdate,      PhaseGroup::kUpdate,     PhaseGroup::kUpdate,
      PhaseGroup::kUpdate,      PhaseGroup::kOther,       PhaseGroup::kEvaluation, PhaseGroup::kOther,
      PhaseGroup::kOther,       PhaseGroup::kIdle};
  for (size_t p = 0; p < kPhaseCount; ++p) EXPECT_EQ(GroupOf(static_cast<Phase>(p)), wanted[p]) << kPhaseNames[p];
}

}  // namespace
}  // namespace backplane
