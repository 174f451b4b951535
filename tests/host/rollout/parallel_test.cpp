#include "backplane/parallel.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "plugin/host_services.hpp"
#include "rollout/parallel.hpp"

namespace backplane {
namespace {

struct Service {
  explicit Service(unsigned threads) : parallel(threads) {
    sinks.parallel = [this](uint64_t n, void (*piece)(void*, uint64_t), void* context) { parallel.Run(n, piece, context); };
  }
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

TEST(ParallelFor, ThrowsWhatTheFirstFailingPieceThrew) {
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

TEST(ParallelFor, RunsOnTheCallerWhereTheHostHasNoSuchService) {
  HostSinks sinks;
  const HostServices services("learner.x", &sinks);
  std::set<std::thread::id> threads;
  bp::ParallelFor(services.get(), 4, [&](uint64_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace backplane
