// Sentences of a tuning.
#include "study/tune_text.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two steps of 1.5 and 1.4: their product is 2.1.
Tuning TwoSteps() {
  Tuning tuning;
  tuning.speed = 1000;
  tuning.why_stopped = "All changes that findings propose were measured.";
  for (const double ratio : {1.5, 1.4}) {
    TuningStep step;
    step.gain = Gain{ratio, std::nullopt};
    step.kept = true;
    tuning.steps.push_back(step);
  }
  return tuning;
}

LearningCheck Checked(bool is_worse) {
  LearningCheck check;
  check.rounds.emplace_back();
  check.rounds.back().learned.is_worse = is_worse;
  check.rounds.back().speed = Gain{1.83, statistics::Interval{1.71, 1.96}};
  return check;
}

TEST(TuneText, ReportsTheGainOfTheFinalCheck) {
  const LearningCheck check = Checked(false);
  const std::string text = OutcomeText(TwoSteps(), &check, "SPS", 60);
  EXPECT_THAT(text,
              HasSubstr("SPS with 2 kept changes, compared with the unchanged experiment (1,000): 1.71 to 1.96 times (95"));
  EXPECT_THAT(text, HasSubstr("estimate 1.83"));
  EXPECT_THAT(text, Not(HasSubstr("2.10")));
}

TEST(TuneText, AProductOfStepsIsCalledSo) {
  EXPECT_THAT(OutcomeText(TwoSteps(), nullptr, "SPS", 60), HasSubstr("2.10 times, the product"));
  // A step was undone after the check measured it.
  const LearningCheck worse = Checked(true);
  EXPECT_THAT(OutcomeText(TwoSteps(), &worse, "SPS", 60), HasSubstr("2.10 times, the product"));
  // The check measures SPS only.
  const LearningCheck check = Checked(false);
  EXPECT_THAT(OutcomeText(TwoSteps(), &check, "wall_s", 60), HasSubstr("2.10 times, the\n  product"));
}

TEST(TuneText, HeadroomNamesItsSetting) {
  Tuning tuning = TwoSteps();
  tuning.headroom = 3.1;
  EXPECT_THAT(OutcomeText(tuning, nullptr, "SPS", 60),
              HasSubstr("headroom of the updates: without updates, the SPS of the kept setting would be 3.1 times as high"));
}

}  // namespace
}  // namespace backplane
