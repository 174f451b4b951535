#include "supervise/eta.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(Eta, AbsentUntilThereIsEvidence) {
  EXPECT_FALSE(EstimateTimeLeft({.finished_s = {}, .running = {{5, 0}}, .waiting = 3, .at_once = 1}));
  EXPECT_FALSE(EstimateTimeLeft({.finished_s = {}, .running = {{5, 0.001}}, .waiting = 3, .at_once = 1}));
}

TEST(Eta, NothingLeftTakesNoTime) { EXPECT_EQ(0, EstimateTimeLeft({.finished_s = {10, 20}, .running = {}})); }

TEST(Eta, WaitingTrialsTakeTheMeanInTurn) {
  EXPECT_DOUBLE_EQ(45, *EstimateTimeLeft({.finished_s = {10, 20}, .running = {}, .waiting = 3, .at_once = 1}));
  EXPECT_DOUBLE_EQ(30, *EstimateTimeLeft({.finished_s = {10, 20}, .running = {}, .waiting = 3, .at_once = 2}));
}

TEST(Eta, RunningTrialsGoOnAtTheirOwnPace) {
  EXPECT_DOUBLE_EQ(30, *EstimateTimeLeft({.finished_s = {}, .running = {{10, 0.25}}, .waiting = 0, .at_once = 1}));
  EXPECT_DOUBLE_EQ(6, *EstimateTimeLeft({.finished_s = {10}, .running = {{4, 0}}, .waiting = 0, .at_once = 1}))
      << "without progress it is taken to last as long as the others";
  EXPECT_DOUBLE_EQ(0, *EstimateTimeLeft({.finished_s = {10}, .running = {{14, 0}}, .waiting = 0, .at_once = 1}));
}

TEST(Eta, AWaitingTrialTakesThePlaceThatIsFreeFirst) {
  // 40 s and 10 s to go; the mean of 80 and 20 is 50: 10 + 50 on the second place.
  EXPECT_DOUBLE_EQ(60, *EstimateTimeLeft({.finished_s = {}, .running = {{40, 0.5}, {10, 0.5}}, .waiting = 1, .at_once = 2}));
}

}  // namespace
}  // namespace backplane
