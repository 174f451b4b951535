#include "screen/eta.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(Eta, AbsentUntilThereIsEvidence) {
  EXPECT_FALSE(EstimateTimeLeft({.finished = {}, .running = {{5, 0}}, .waiting = {0, 0, 0}, .at_once = 1}));
  EXPECT_FALSE(EstimateTimeLeft({.finished = {}, .running = {{5, 0.001}}, .waiting = {0, 0, 0}, .at_once = 1}));
}

TEST(Eta, TwoIterationsAreEvidenceOfALongTrial) {
  EXPECT_DOUBLE_EQ(1990, *EstimateTimeLeft({.running = {{10, 0.005, 0, 2}}}));
  EXPECT_FALSE(EstimateTimeLeft({.running = {{10, 0.005, 0, 1}}})) << "the first one warms up";
  EXPECT_FALSE(EstimateTimeLeft({.running = {{10, 0, 0, 2}}})) << "no limit counts iterations";
}

TEST(Eta, NothingLeftTakesNoTime) { EXPECT_EQ(0, EstimateTimeLeft({.finished = {{10}, {20}}, .running = {}})); }

TEST(Eta, WaitingTrialsTakeTheMeanInTurn) {
  EXPECT_DOUBLE_EQ(45, *EstimateTimeLeft({.finished = {{10}, {20}}, .running = {}, .waiting = {0, 0, 0}, .at_once = 1}));
  EXPECT_DOUBLE_EQ(30, *EstimateTimeLeft({.finished = {{10}, {20}}, .running = {}, .waiting = {0, 0, 0}, .at_once = 2}));
}

TEST(Eta, RunningTrialsKeepTheirOwnPace) {
  EXPECT_DOUBLE_EQ(30, *EstimateTimeLeft({.finished = {}, .running = {{10, 0.25}}, .waiting = {}, .at_once = 1}));
  EXPECT_DOUBLE_EQ(6, *EstimateTimeLeft({.finished = {{10}}, .running = {{4, 0}}, .waiting = {}, .at_once = 1}))
      << "without progress it lasts as long as the others";
  EXPECT_DOUBLE_EQ(0, *EstimateTimeLeft({.finished = {{10}}, .running = {{14, 0}}, .waiting = {}, .at_once = 1}));
}

TEST(Eta, WaitingTrialStartsInTheFirstFreeSlot) {
  // 40 s and 10 s are left; the mean of 80 and 20 is 50: 10 + 50 in the second slot.
  EXPECT_DOUBLE_EQ(60, *EstimateTimeLeft({.finished = {}, .running = {{40, 0.5}, {10, 0.5}}, .waiting = {0}, .at_once = 2}));
}

// Arms of 10 s and 100 s: two trials of the first and one of the second are left.
TEST(Eta, WaitingTrialLastsAsLongAsItsArm) {
  EXPECT_DOUBLE_EQ(120, *EstimateTimeLeft({.finished = {{10, 0}, {10, 0}, {10, 0}, {100, 1}}, .waiting = {0, 1, 0}}));
  EXPECT_DOUBLE_EQ(60 + 90, *EstimateTimeLeft({.finished = {{20, 0}}, .running = {{10, 0.1, 1}}, .waiting = {2}}))
      << "unknown arm: the mean of all, after the running one";
  EXPECT_DOUBLE_EQ(32.5 + 32.5, *EstimateTimeLeft({.finished = {{10, 0}, {10, 0}, {10, 0}, {100, 1}}, .to_come = 2}));
}

}  // namespace
}  // namespace backplane
