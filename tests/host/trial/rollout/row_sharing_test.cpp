#include "rollout/row_sharing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void PlayAll(RunnerRows& rows) {
  for (const uint64_t row : rows.free) rows.Play(row);
  rows.free.clear();
  rows.FindRuns();
}

TEST(RowSharing, EveryRunnerGetsItsShareOfNeighbours) {
  RowSharing sharing(10, 3);
  sharing.Divide(3);
  EXPECT_THAT(sharing[0].free, ElementsAre(2, 1, 0));
  EXPECT_THAT(sharing[1].free, ElementsAre(5, 4, 3));
  EXPECT_THAT(sharing[2].free, ElementsAre(8, 7, 6)) << "row 9 exceeds the rows of a runner";
}

TEST(RowSharing, FindsRunsOfNeighbours) {
  RunnerRows rows;
  for (const uint64_t row : {7, 2, 3, 9, 1}) rows.Play(row);
  rows.FindRuns();
  EXPECT_THAT(rows.playing, ElementsAre(1, 2, 3, 7, 9));
  ASSERT_EQ(rows.runs.size(), 3u);
  EXPECT_EQ(rows.runs[0].begin, 1u);
  EXPECT_EQ(rows.runs[0].end, 4u);
  EXPECT_EQ(rows.runs[2].begin, 9u);
}

TEST(RowSharing, WaitingThreadGetsHalfOfAnothersRows) {
  RowSharing sharing(10, 2);
  sharing.Divide(5);
  PlayAll(sharing[0]);
  EXPECT_FALSE(sharing.wanted());
  std::thread other([&] { sharing.Await(sharing[1], [] { return false; }); });
  while (!sharing.wanted()) std::this_thread::yield();
  sharing.Share(sharing[0]);
  other.join();
  EXPECT_THAT(sharing[0].playing, ElementsAre(0, 1, 2));
  EXPECT_THAT(sharing[1].playing, ElementsAre(3, 4));
  EXPECT_EQ(sharing[1].runs.size(), 1u);
  EXPECT_FALSE(sharing.wanted());
}

TEST(RowSharing, TheLastRowIsNotGivenAway) {
  RowSharing sharing(2, 2);
  sharing.Divide(1);
  PlayAll(sharing[0]);
  std::atomic<bool> over{false};
  std::thread other([&] { sharing.Await(sharing[1], [&] { return over.load(); }); });
  while (!sharing.wanted()) std::this_thread::yield();
  sharing.Share(sharing[0]);
  EXPECT_TRUE(sharing.wanted());
  over = true;
  sharing.Wake();
  other.join();
  EXPECT_THAT(sharing[0].playing, ElementsAre(0));
  EXPECT_THAT(sharing[1].playing, IsEmpty());
}

}  // namespace
}  // namespace backplane
