#include "rollout/chunk_queue.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace backplane {
namespace {

TEST(ChunkQueue, CutsTheRowsIntoChunks) {
  const ChunkQueue queue(10, 4, 2);
  ASSERT_EQ(queue.chunks().size(), 3u);
  EXPECT_EQ(queue.chunks()[1].begin, 4u);
  EXPECT_EQ(queue.chunks()[2].end, 10u) << "the last chunk is shorter";
}

TEST(ChunkQueue, ARunnerTakesFromItsOwnBlockFirst) {
  ChunkQueue queue(8, 2, 2);
  queue.Start(10);
  EXPECT_EQ(queue.Take(1)->begin, 4u);
  EXPECT_EQ(queue.Take(0)->begin, 0u);
  EXPECT_EQ(queue.Take(1)->begin, 6u);
}

TEST(ChunkQueue, RunnerWithoutWorkTakesTheSlowestChunk) {
  ChunkQueue queue(8, 2, 2);
  queue.Start(10);
  for (int i = 0; i < 2; ++i) {  // runner 1 finishes its block
    Chunk* chunk = queue.Take(1);
    chunk->t = 10;
    queue.GiveBack(*chunk);
  }
  Chunk* first = queue.Take(0);
  first->t = 3;
  queue.GiveBack(*first);
  EXPECT_EQ(queue.Take(1)->begin, 2u) << "chunk 0 is 3 steps ahead of it";
}

TEST(ChunkQueue, SkipsHeldAndFinishedChunks) {
  ChunkQueue queue(2, 2, 2);
  queue.Start(1);
  Chunk* chunk = queue.Take(0);
  EXPECT_EQ(queue.Take(1), nullptr);
  chunk->t = 1;
  queue.GiveBack(*chunk);
  EXPECT_EQ(queue.Take(0), nullptr);
}

TEST(ChunkQueue, NoStepOfAChunkIsLostOrDoneTwice) {
  constexpr uint64_t kHorizon = 500;
  ChunkQueue queue(5, 1, 3);
  queue.Start(kHorizon);
  std::vector<uint64_t> steps(5, 0);  // of one chunk, written only by its holder
  const auto work = [&](unsigned runner) {
    while (Chunk* chunk = queue.Take(runner)) {
      ++steps[chunk->begin];
      ++chunk->t;
      queue.GiveBack(*chunk);
    }
  };
  std::thread a(work, 1), b(work, 2);
  work(0);
  a.join();
  b.join();
  EXPECT_EQ(steps, std::vector<uint64_t>(5, kHorizon));
}

}  // namespace
}  // namespace backplane
