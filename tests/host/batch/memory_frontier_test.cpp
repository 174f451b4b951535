#include "batch/memory_frontier.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// The points of a grid over two memory axes; the second varies fastest.
Plan GridOf(double rows, double columns) {
  Plan plan;
  plan.memory_axes = {"rows", "columns"};
  for (double row = 0; row < rows; ++row) {
    for (double column = 0; column < columns; ++column) {
      plan.points.emplace_back();
      plan.points.back().values = {{"rows", row}, {"columns", column}, {"lr", 0.1}};
    }
  }
  return plan;
}

Plan Chain(const std::vector<double>& sizes) {
  Plan plan;
  plan.memory_axes = {"size"};
  for (const double size : sizes) {
    plan.points.emplace_back();
    plan.points.back().values = {{"size", size}};
  }
  return plan;
}

TEST(MemoryFrontier, PlacesAllLargerPointsAbove) {
  EXPECT_THAT(MemoryFrontier(GridOf(2, 3)).Above(1), UnorderedElementsAre(2, 4, 5));
  EXPECT_THAT(MemoryFrontier(GridOf(2, 3)).Above(5), ElementsAre());
}

TEST(MemoryFrontier, PlacesOnlyDirectSmallerNeighboursBelow) {
  EXPECT_THAT(MemoryFrontier(Chain({8, 1, 4, 2})).Below(0), ElementsAre(2));
  EXPECT_THAT(MemoryFrontier(Chain({8, 1, 4, 2})).Below(1), ElementsAre());
  EXPECT_THAT(MemoryFrontier(GridOf(3, 3)).Below(8), UnorderedElementsAre(5, 7));
  EXPECT_THAT(MemoryFrontier(GridOf(3, 3)).Below(0), ElementsAre());
}

TEST(MemoryFrontier, IgnoresPointsThatAreNotComparable) {
  Plan plan = GridOf(3, 3);
  plan.points[5].values[2].second = 0.2;  // a different chain
  EXPECT_THAT(MemoryFrontier(plan).Below(8), UnorderedElementsAre(2, 7));
}

// A point that waits for its direct smaller neighbours thereby waits for all smaller points.
TEST(MemoryFrontier, StepsDownReachEveryPointThatIsSmaller) {
  const Plan plan = GridOf(6, 7);
  const MemoryFrontier frontier(plan);
  for (size_t point = 0; point < plan.points.size(); ++point) {
    std::vector<bool> reached(plan.points.size());
    std::vector<size_t> next{point};
    while (!next.empty()) {
      const size_t at = next.back();
      next.pop_back();
      for (const size_t below : frontier.Below(at)) {
        reached[below] = true;
        next.push_back(below);
      }
    }
    for (size_t other = 0; other < plan.points.size(); ++other) {
      const bool smaller = other != point && other / 7 <= point / 7 && other % 7 <= point % 7;
      EXPECT_EQ(smaller, reached[other]) << other << " below " << point;
    }
  }
}

}  // namespace
}  // namespace backplane
