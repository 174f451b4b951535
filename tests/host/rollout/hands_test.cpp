#include "rollout/hands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void PlayAll(Hand& hand) {
  for (const uint64_t row : hand.free) hand.Play(row);
  hand.free.clear();
  hand.FindRuns();
}

TEST(Hands, EveryRunnerGetsItsShareOfNeighbours) {
  Hands hands(10, 3);
  hands.Deal(3);
  EXPECT_THAT(hands[0].free, ElementsAre(2, 1, 0));
  EXPECT_THAT(hands[1].free, ElementsAre(5, 4, 3));
  EXPECT_THAT(hands[2].free, ElementsAre(8, 7, 6)) << "row 9 is one more than a runner plays side by side";
}

TEST(Hands, FindsRunsOfNeighbours) {
  Hand hand;
  for (const uint64_t row : {7, 2, 3, 9, 1}) hand.Play(row);
  hand.FindRuns();
  EXPECT_THAT(hand.rows, ElementsAre(1, 2, 3, 7, 9));
  ASSERT_EQ(hand.runs.size(), 3u);
  EXPECT_EQ(hand.runs[0].begin, 1u);
  EXPECT_EQ(hand.runs[0].end, 4u);
  EXPECT_EQ(hand.runs[2].begin, 9u);
}

TEST(Hands, OneThatWaitsGetsHalfOfAnothersRows) {
  Hands hands(10, 2);
  hands.Deal(5);
  PlayAll(hands[0]);
  EXPECT_FALSE(hands.wanted());
  std::thread other([&] { hands.Await(hands[1], [] { return false; }); });
  while (!hands.wanted()) std::this_thread::yield();
  hands.Share(hands[0]);
  other.join();
  EXPECT_THAT(hands[0].rows, ElementsAre(0, 1, 2));
  EXPECT_THAT(hands[1].rows, ElementsAre(3, 4));
  EXPECT_EQ(hands[1].runs.size(), 1u);
  EXPECT_FALSE(hands.wanted());
}

TEST(Hands, TheLastRowIsNotGivenAway) {
  Hands hands(2, 2);
  hands.Deal(1);
  PlayAll(hands[0]);
  std::atomic<bool> over{false};
  std::thread other([&] { hands.Await(hands[1], [&] { return over.load(); }); });
  while (!hands.wanted()) std::this_thread::yield();
  hands.Share(hands[0]);
  EXPECT_TRUE(hands.wanted());
  over = true;
  hands.Wake();
  other.join();
  EXPECT_THAT(hands[0].rows, ElementsAre(0));
  EXPECT_THAT(hands[1].rows, IsEmpty());
}

}  // namespace
}  // namespace backplane
