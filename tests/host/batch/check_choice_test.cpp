#include <gtest/gtest.h>

#include "batch/option_check.hpp"

namespace backplane {
namespace {

// Points of a grid of rows x columns, two seeds each.
Plan Grid(size_t rows, size_t columns) {
  Plan plan;
  for (size_t i = 0; i < rows * columns; ++i) {
    plan.points.push_back({std::to_string(i), "", {{"a", i / columns}, {"b", i % columns}}});
    for (const uint64_t seed : {0, 1}) plan.trials.push_back({std::to_string(i), i, seed, {}});
  }
  return plan;
}

std::vector<size_t> Chosen(const Plan& plan) {
  std::vector<size_t> all(plan.trials.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<size_t> points;
  for (const size_t trial : TrialsToCheck(plan, all)) points.push_back(plan.trials[trial].point);
  return points;
}

TEST(CheckChoice, ChecksEachOfAFewPointsOnce) {
  std::vector<size_t> every(64);
  for (size_t i = 0; i < every.size(); ++i) every[i] = i;
  EXPECT_EQ(Chosen(Grid(8, 8)), every);
}

TEST(CheckChoice, ChecksEachValueOfLongAxesOnce) {
  EXPECT_EQ(Chosen(Grid(2, 50)).size(), 51u);
  EXPECT_EQ(Chosen(Grid(100, 100)).size(), 199u);
  EXPECT_EQ(Chosen(Grid(1, 10000)).size(), kMostPoints);
}

TEST(CheckChoice, ChecksEveryListedPointAndPairOfFiles) {
  Plan plan = Grid(2, 50);
  plan.points[77].listed = true;
  for (PlannedTrial& trial : plan.trials) {
    if (trial.point >= 88) trial.files["learner.plugin"] = "another file";
  }
  std::vector<size_t> wanted(51);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  wanted.insert(wanted.end(), {77, 88});
  EXPECT_EQ(Chosen(plan), wanted);
}

}  // namespace
}  // namespace backplane
