// No heap allocation per env step: counts malloc calls between the first and the last step of a rollout.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <new>

#include "rollout/candidate_scorer.hpp"
#include "toy_plugins.hpp"

namespace {
thread_local uint64_t t_allocations = 0;
uint64_t g_first = 0, g_last = 0, g_steps = 0;

void OnStep() {
  if (g_steps++ == 0) g_first = t_allocations;
  g_last = t_allocations;
}
}  // namespace

extern "C" void* __libc_malloc(size_t);
extern "C" void* malloc(size_t n) {
  ++t_allocations;
  return __libc_malloc(n);
}

namespace backplane::toy {
namespace {

TEST(Allocations, TheCounterSeesAnAllocation) {
  const uint64_t before = t_allocations;
  ::operator delete(::operator new(16));
  EXPECT_EQ(t_allocations, before + 1);
}

TEST(Allocations, NoneHappenInsideARollout) {
  for (const bool carries : {false, true}) {
    g_switches.carries = carries;
    ToyTrial trial(64, 1, 16);
    g_switches.carries = false;
    trial.Collect(100);  // warm-up binds the buffers
    g_steps = 0;
    g_switches.on_step = OnStep;
    trial.Collect(100);
    g_switches.on_step = nullptr;
    EXPECT_EQ(g_steps, 400u);
    EXPECT_GT(trial.collector->episodes().size(), 100u) << "resets and episode ends were part of it";
    EXPECT_EQ(g_last - g_first, 0u) << (carries ? "with a memory" : "without");
  }
}

// The last of 17 parts is shorter.
TEST(Allocations, NoneHappenBetweenTheParts) {
  constexpr uint64_t kParts = 17;
  ToyTrial trial(1, 1, 1);
  const PhaseSpan span(trial.clocks[0], Phase::kSync);
  const auto collect = [&] {
    for (uint64_t k = 0; k < kParts; ++k) {
      ASSERT_TRUE(trial.collector->Collect(RolloutPart(50, 3, k), trial.clocks));
      ASSERT_EQ(trial.collector->Delivery().count, kParts);
    }
  };
  for (int warm_up = 0; warm_up < 200; ++warm_up) collect();  // until each step of a part ended an episode
  g_steps = 0;
  g_switches.on_step = OnStep;
  for (int i = 0; i < 10; ++i) collect();
  g_switches.on_step = nullptr;
  EXPECT_EQ(g_steps, 500u);
  EXPECT_EQ(g_last - g_first, 0u);
}

uint64_t ResidentBytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Channels use 30 bytes per step (see LongRolloutOfOneRowUsesOnlyTheBytesOfItsNumbers). One step in eight ends an episode, and
// some 100 of these are kept. A slot for each step used 1.4 KB.
TEST(Allocations, LongRolloutOfOneRowUsesLittleMoreThanItsNumbers) {
  constexpr uint64_t kSteps = 100'000;
  ToyTrial trial(1, 1, 1);
  const uint64_t before = ResidentBytes();
  ASSERT_TRUE(trial.Collect(kSteps));
  EXPECT_LT(ResidentBytes() - before, 3 * 30 * kSteps);
}

TEST(Allocations, NoneHappenWhileCandidatesAreEvaluated) {
  for (const bool row_exact : {true, false}) {
    g_switches.row_exact = row_exact, g_switches.carries = true;
    ToyTrial trial(64, 1, 16);
    g_switches.row_exact = g_switches.carries = false;
    CandidateScorer scorer(*trial.env, *trial.learner, *trial.pool, 16, 7, trial.cancelled, [] {});
    scorer.Bind();
    std::vector<uint64_t> seeds(200);
    for (uint64_t i = 0; i < seeds.size(); ++i) seeds[i] = bp_seed(3, BP_PURPOSE_LEARNER, 0, i);
    bp_request request{sizeof(bp_request), BP_REQ_EVALUATE, {}};
    request.u.evaluate = {100, 2, 0, 0, seeds.data()};
    const PhaseSpan span(trial.clocks[0], Phase::kSync);
    ASSERT_TRUE(scorer.Score(request, trial.clocks));  // warm-up allocates memory for the jobs
    g_steps = 0;
    g_switches.on_step = OnStep;
    ASSERT_TRUE(scorer.Score(request, trial.clocks));
    g_switches.on_step = nullptr;
    EXPECT_GT(g_steps, 50u) << "resets and ends of episodes were part of it";
    EXPECT_EQ(g_last - g_first, 0u) << (row_exact ? "row-exact" : "in waves");
  }
}

}  // namespace
}  // namespace backplane::toy
