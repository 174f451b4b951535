#include "rollout/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "rollout/cores.hpp"

namespace backplane {
namespace {

TEST(RunnerPool, RunsEveryRunnerOncePerRound) {
  RunnerPool pool(3);
  std::atomic<int> calls[3] = {};
  for (int round = 0; round < 200; ++round) pool.Run([&](unsigned i) { ++calls[i]; }, [] {});
  for (auto& n : calls) EXPECT_EQ(n, 200);
}

TEST(RunnerPool, APoolOfOneUsesTheCallersThread) {
  RunnerPool pool(1);
  std::thread::id id;
  pool.Run([&](unsigned) { id = std::this_thread::get_id(); }, [] {});
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(GrantedCores, IsAtLeastOneAndAtMostTheMachines) {
  EXPECT_GE(GrantedCores(), 1u);
  EXPECT_LE(GrantedCores(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace backplane
