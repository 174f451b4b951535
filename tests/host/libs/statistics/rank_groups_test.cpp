#include "statistics/rank_groups.hpp"

#include <gmock/gmock.h>

namespace backplane::statistics {
namespace {

using testing::ElementsAre;

TEST(RankGroups, EqualValuesShareTheMeanOfTheirRanks) { EXPECT_THAT(Ranks({5, 1, 5, 2}), ElementsAre(3.5, 1, 3.5, 2)); }

// scipy.stats.kruskal([1, 2, 3], [4, 5, 6]) has H = 27/7, and ([1, 4, 6], [2, 3, 5], [7, 8, 9]) H = 5.4222; the share is
// (H - k + 1) / (n - k).
TEST(RankGroups, ShareEqualsKruskalAndWallis) {
  EXPECT_NEAR(ExplainedByGroups({1, 2, 3, 4, 5, 6}, {0, 0, 0, 1, 1, 1}, 1)->share, (27.0 / 7 - 1) / 4, 1e-12);
  EXPECT_NEAR(ExplainedByGroups({1, 4, 6, 2, 3, 5, 7, 8, 9}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, 1)->share,
              (5.422222222222222 - 2) / 6, 1e-12);
}

TEST(RankGroups, OnlyTheOrderOfTheValuesCounts) {
  const std::vector<size_t> group = {0, 1, 0, 1, 1, 0};
  EXPECT_EQ(ExplainedByGroups({1, 2, 3, 4, 5, 6}, group, 1)->share,
            ExplainedByGroups({-1e9, 2, 3, 4, 5, 1e30}, group, 1)->share);
}

TEST(RankGroups, RandomGroupsStayBelowChance) {
  std::vector<double> values;
  std::vector<size_t> group;
  for (size_t i = 0; i < 40; ++i) {
    values.push_back(static_cast<double>(i));
    group.push_back(i % 4);
  }
  const Explained even = *ExplainedByGroups(values, group, 1);
  EXPECT_EQ(even.share, 0);
  // (chi-squared's 95 % point, 7.815, minus 3) / 36 to first order.
  EXPECT_NEAR(even.by_chance, 0.13, 0.03);
}

TEST(RankGroups, RejectsGroupsThatCannotBeSplit) {
  EXPECT_FALSE(ExplainedByGroups({1, 2, 3}, {0, 0, 0}, 1));
  EXPECT_FALSE(ExplainedByGroups({1, 2, 3}, {0, 1, 2}, 1));
  EXPECT_FALSE(ExplainedByGroups({1, 1, 1}, {0, 0, 1}, 1));
  EXPECT_FALSE(ExplainedByGroups({}, {}, 1));
}

TEST(RankGroups, NumbersAreCutIntoEqualPartsAndEqualOnesStayTogether) {
  EXPECT_THAT(GroupsInOrder({9, 1, 8, 2, 7, 3}, 3), ElementsAre(2, 0, 2, 0, 1, 1));
  EXPECT_THAT(GroupsInOrder({1, 1, 1, 1, 2, 3}, 3), ElementsAre(0, 0, 0, 0, 1, 2));
  EXPECT_THAT(GroupsInOrder({4, 4, 4}, 2), ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace backplane::statistics
