// Rules about the measurement: its length and evenness, and the influence of the machine's libraries.
#include <cmath>

#include "findings_fixture.hpp"

namespace backplane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NoisyMeasurement, TheFirstIterationDoesNotCount) { EXPECT_THAT(Ids(Batch().Wavering(2).Diagnose()), IsEmpty()); }

TEST(NoisyMeasurement, FewerThanThreeValuesAreNotJudged) {
  Batch b;
  for (CombinedTrial& t : b.combined().trials) t.data.curves.clear();
  EXPECT_THAT(WhySilent("noisy_measurement", b.Diagnose()), HasSubstr("fewer than 3"));
}

TEST(NoisyMeasurement, IterationsAreDoubledAndTheirNumberIsReported) {
  const Finding f = The("noisy_measurement", Batch().Wavering(300).Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("budget.iterations: 6 -> 12"));
  EXPECT_NEAR(30 * std::sqrt(10 / 9.0), f.evidence[0].value, 1e-9);
  EXPECT_EQ("10 iterations after the first", f.evidence[0].window);
}

TEST(NoisyMeasurement, FewOrShortIterationsAreNotJudged) {
  Batch few, brief;
  for (Batch* b : {&few, &brief}) b->combined().trials.erase(b->combined().trials.begin());
  EXPECT_THAT(WhySilent("noisy_measurement", few.Speeds({1, 500, 1500, 500, 1500, 500}).Diagnose()),
              HasSubstr("fewer than 10 iterations"));
  EXPECT_THAT(WhySilent("noisy_measurement", brief.Wavering(300).Measure("measured_s", 4.9).Diagnose()),
              HasSubstr("less than 5 s"));
  EXPECT_THAT(Ids(brief.Measure("measured_s", 5).Diagnose()), ElementsAre("noisy_measurement"));
}

TEST(NoisyMeasurement, SeedsThatDifferAskForMoreSeeds) {
  Batch b;
  b.Add("2x1", 2, 1, 2300, 1).Add("2x1", 2, 1, 1500, 2);
  const Finding f = The("noisy_measurement", b.Diagnose());
  EXPECT_THAT(Changes(f), ElementsAre("sweep.seeds.n: 3 -> 6"));
  EXPECT_EQ("3 seeds", f.evidence[0].window);
}

TEST(NoisyMeasurement, AllPlannedSeedsCountAsTheFilesSeeds) {
  Batch b;
  b.Add("2x1", 2, 1, 2300, 1).Add("2x1", 2, 1, 1500, 2).Add("2x1", 2, 1, 1, 3);
  b.last().state = TrialState::kFailed;
  EXPECT_THAT(Changes(The("noisy_measurement", b.Diagnose())), ElementsAre("sweep.seeds.n: 4 -> 8"));
}

TEST(NoisyMeasurement, AnOutlierCountsIfItIsFarFromTheMedian) {
  std::vector<double> speeds = {1};
  for (int i = 0; i < 30; ++i) speeds.push_back(1000 + i % 3);
  speeds.push_back(1100);
  const Finding f = The("noisy_measurement", Batch().Speeds(speeds).Diagnose());
  EXPECT_EQ(Severity::kInfo, f.severity);
  EXPECT_THAT(f.title, HasSubstr("outliers: 1, 1 of them extreme"));
  speeds.back() = 1040;
  EXPECT_THAT(Ids(Batch().Speeds(speeds).Diagnose()), IsEmpty());
}

TEST(ThreadsMismatch, NamesAPluginThatSupportsOnlyOneThread) {
  const Finding f = The("threads_mismatch", Batch().Measure("threads", 1).Diagnose());
  EXPECT_EQ("threads", f.evidence[0].measure);
  EXPECT_EQ(2, f.evidence[0].threshold);
  EXPECT_THAT(f.cause, HasSubstr("ROWS_CONCURRENT"));
}

}  // namespace
}  // namespace backplane
