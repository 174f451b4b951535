#include "backplane/parallel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "plugin/host_services.hpp"
#include "rollout/parallel.hpp"

namespace backplane {
namespace {

struct Service {
  explicit Service(unsigned threads) : pool(threads), clocks(threads), parallel(pool, clocks) {
    sinks.parallel = [this](uint64_t n, void (*piece)(void*, uint64_t), void* context) { parallel.Run(n, piece, context); };
  }
  RunnerPool pool;
  std::vector<PhaseClock> clocks;
  ParallelFor parallel;
  HostSinks sinks;
  HostServices services{"learner.x", &sinks};
};

TEST(ParallelFor, RunsEveryPieceOnceOnAnyNumberOfThreads) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Service service(threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<int> seen(7);
      bp::ParallelFor(service.services.get(), seen.size(), [&](uint64_t i) { ++seen[i]; });
      EXPECT_EQ(seen, std::vector<int>(7, 1));
    }
  }
}

// The caller's half are always the first pieces, whatever their number, so caches stay warm.
TEST(ParallelFor, EachThreadBeginsWithItsOwnPieces) {
  Service service(2);
  for (int round = 0; round < 50; ++round) {
    std::thread::id of[4];
    std::atomic<int> arrived{0};
    bp::ParallelFor(service.services.get(), 4, [&](uint64_t i) {
      of[i] = std::this_thread::get_id();
      if (i % 2 == 1) return;
      ++arrived;  // the first piece of each thread
      while (arrived < 2) std::this_thread::yield();
    });
    EXPECT_EQ(of[0], std::this_thread::get_id());
    EXPECT_NE(of[2], of[0]);
  }
}

TEST(SharedPieces, RejectsLateThreadsAndCompletesAllPieces) {
  SharedPieces pieces(3);
  for (const uint64_t n : {2u, 7u}) {
    pieces.Open(n, 3, /*grace_ns=*/1);
    std::vector<int> taken(n);
    pieces.Take(0, [&](uint64_t i) { ++taken[i]; });  // its own, and the pieces of two threads that never come
    EXPECT_EQ(taken, std::vector<int>(n, 1));
    EXPECT_TRUE(pieces.Enter()) << "open as long as the caller has not closed it";
    pieces.Take(1, [&](uint64_t i) { ++taken[i]; });
    EXPECT_EQ(taken, std::vector<int>(n, 1));
    EXPECT_NE(pieces.Close().load(), 0u) << "one is inside";
    pieces.Leave();
    EXPECT_EQ(pieces.Close().load(), 0u);
    EXPECT_FALSE(pieces.Enter());
  }
}

TEST(ParallelFor, PiecesRunAtTheSameTime) {
  Service service(2);
  std::atomic<int> arrived{0};
  // Each piece waits for the other: on one thread this would never end.
  bp::ParallelFor(service.services.get(), 2, [&](uint64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

// Runs two pieces that take `ms` each, at the same time.
void RunTwo(Service& service, int ms) {
  std::atomic<int> arrived{0};
  bp::ParallelFor(service.services.get(), 2, [&](uint64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  });
}

TEST(ParallelFor, HelpersCountThePhaseOfTheCaller) {
  Service service(3);
  {
    const PhaseSpan span(service.clocks[0], Phase::kUpdateBackward);
    RunTwo(service, 20);
    EXPECT_EQ(service.clocks[0].current(), Phase::kUpdateBackward);
  }
  for (const unsigned runner : {0u, 1u}) EXPECT_GE(service.clocks[runner].ns(Phase::kUpdateBackward), 20'000'000) << runner;
  EXPECT_EQ(service.clocks[1].total_ns(), service.clocks[1].ns(Phase::kUpdateBackward));
  EXPECT_EQ(service.clocks[2].total_ns(), 0) << "two pieces, so it slept on";
}

TEST(ParallelFor, CallerKeepsTimeSpentBefore) {
  Service service(2);
  {
    const PhaseSpan span(service.clocks[0], Phase::kUpdateBackward);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    RunTwo(service, 1);
  }
  EXPECT_GE(service.clocks[0].ns(Phase::kUpdateBackward), 30'000'000);
}

TEST(ParallelFor, ACallerThatWaitsIsIdle) {
  Service service(2);
  const std::thread::id caller = std::this_thread::get_id();
  {
    const PhaseSpan span(service.clocks[0], Phase::kUpdateBackward);
    std::atomic<int> arrived{0};
    bp::ParallelFor(service.services.get(), 2, [&](uint64_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
      if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
  }
  EXPECT_GT(service.clocks[0].ns(Phase::kIdle), service.clocks[0].ns(Phase::kUpdateBackward));
  EXPECT_GE(service.clocks[1].ns(Phase::kUpdateBackward), 20'000'000);
}

TEST(ParallelFor, NoClockStartsIfTheCallersRests) {
  Service service(2);
  RunTwo(service, 1);
  for (const PhaseClock& clock : service.clocks) EXPECT_EQ(clock.total_ns(), 0);
  EXPECT_FALSE(service.clocks[0].running());
}

TEST(ParallelFor, RunsOnTheCallerFromWithinAJobOfThePool) {
  Service service(2);
  std::atomic<int> strangers{0}, pieces{0};
  service.pool.Run(
      2,
      [&](unsigned) {
        const std::thread::id caller = std::this_thread::get_id();
        bp::ParallelFor(service.services.get(), 4,
                        [&](uint64_t) { ++pieces, strangers += std::this_thread::get_id() != caller; });
      },
      [] {});
  EXPECT_EQ(pieces, 8);
  EXPECT_EQ(strangers, 0);
}

TEST(ParallelFor, ThrowsTheExceptionOfTheFirstFailingPiece) {
  Service service(3);
  const auto run = [&] {
    bp::ParallelFor(service.services.get(), 9, [](uint64_t i) {
      if (i >= 4) throw std::runtime_error("piece " + std::to_string(i));
    });
  };
  for (int round = 0; round < 20; ++round) {
    try {
      run();
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "piece 4");
    }
  }
}

TEST(ParallelFor, RunsOnTheCallerWithoutTheService) {
  HostSinks sinks;
  const HostServices services("learner.x", &sinks);
  std::set<std::thread::id> threads;
  bp::ParallelFor(services.get(), 4, [&](uint64_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace backplane
