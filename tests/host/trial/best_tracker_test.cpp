#include "trial/best_tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace backplane {
namespace {

class BestTrackerTest : public testing::Test {
 protected:
  static EpisodeMeans Of(double episode_return, double loss = 0) {
    return {Spread{.mean = episode_return, .sd = {}, .se = {}, .n = 10},
            {{"ep/loss", Spread{.mean = loss, .sd = {}, .se = {}, .n = 10}}}};
  }
  // Adds an evaluation after each of the next iterations. Returns the iterations that were a new best.
  std::vector<uint64_t> Bests(BestTracker* tracker, const std::vector<EpisodeMeans>& evaluations) {
    std::vector<uint64_t> bests;
    for (const EpisodeMeans& evaluation : evaluations) {
      count_.env_steps = 100 * ++count_.iterations;
      tracker->Add(evaluation, count_);
      if (tracker->unsaved()) bests.push_back(count_.iterations);
      tracker->NoteSaved();
    }
    return bests;
  }

  const BestConfig up_{.metric = "eval/return"}, down_{.metric = "eval/loss", .direction = "minimize"};
  TrialCount count_;
};

TEST_F(BestTrackerTest, ATieAndANumberThatIsNotFiniteNeverWin) {
  BestTracker tracker(up_);
  const double nan = std::nan(""), infinite = INFINITY;
  EXPECT_EQ(Bests(&tracker, {Of(nan), Of(-5), Of(-5), Of(nan), Of(-6), Of(3), Of(infinite), Of(3), Of(-infinite)}),
            (std::vector<uint64_t>{2, 6}));
  EXPECT_EQ(
      ToJson(*tracker.best()),
      nlohmann::json({{"metric", "eval/return"}, {"direction", 1}, {"value", 3.0}, {"iteration", 6}, {"env_steps", 600}}));
}

TEST_F(BestTrackerTest, FollowsTheMetricsDirection) {
  BestTracker tracker(down_);
  EXPECT_EQ(Bests(&tracker, {Of(0, 0.5), Of(9, 0.7), Of(0, 0.4), Of(9, 0.4)}), (std::vector<uint64_t>{1, 3}));
  EpisodeMeans without;
  without.episode_return = Spread{.mean = 1, .sd = {}, .se = {}, .n = 1};
  EXPECT_THAT(Bests(&tracker, {without}), testing::IsEmpty());
  const BestConfig none;
  BestTracker off(none);
  EXPECT_THAT(Bests(&off, {Of(1), Of(2)}), testing::IsEmpty());
}

TEST_F(BestTrackerTest, ResumesFromTheScoreOfTheFile) {
  const BestScore known{"eval/return", 1, 4, 10, 1000};
  count_.iterations = 20;
  BestTracker tracker(up_);
  EXPECT_EQ(tracker.GoOnFrom(known, known, 20), "");
  EXPECT_FALSE(tracker.unsaved());
  EXPECT_EQ(Bests(&tracker, {Of(4), Of(5)}), (std::vector<uint64_t>{22}));
}

// The file is gone, of a part of the trial that is repeated, or of a different metric.
TEST_F(BestTrackerTest, ChoosesAgainIfTheBestIsLost) {
  const BestScore known{"eval/return", 1, 4, 10, 1000}, later{"eval/return", 1, 9, 30, 3000},
      other{"eval/loss", -1, 4, 10, 1000};
  for (const auto& saved : {std::optional<BestScore>(), std::optional(later), std::optional(other)}) {
    BestTracker tracker(up_);
    EXPECT_THAT(tracker.GoOnFrom(saved, known, 20), testing::HasSubstr("of iteration 10 with eval/return 4, is lost"));
    EXPECT_FALSE(tracker.best());
  }
  BestTracker tracker(up_);
  EXPECT_EQ(tracker.GoOnFrom(other, other, 20), "") << "the metric is new";
  const BestConfig none;
  EXPECT_EQ(BestTracker(none).GoOnFrom(known, known, 20), "");
}

}  // namespace
}  // namespace backplane
