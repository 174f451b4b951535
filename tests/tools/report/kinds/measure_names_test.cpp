#include "kinds/measure_names.hpp"

#include <gmock/gmock.h>

#include "contract/experiment.hpp"

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::set<std::string> kRecorded = {"return", "ep/length", "eval/return", "eval/length", "train/loss"};

Experiment Comparing(const nlohmann::json& columns) {
  Experiment experiment;
  experiment.report.kind = "comparison";
  experiment.report.columns = columns;
  return experiment;
}

TEST(MeasureNames, RecordedMeasuresAreKnown) {
  Experiment experiment = Comparing({"eval/return", "train/loss@min", "SPS", "100 * eval/return / minutes", "phase/idle",
                                     "time/waiting_for_a_core_pct", "device/peak_mb@max", "resources/cpu_quota_pct"});
  experiment.live = {"ep/length", "rss_peak_mb"};
  EXPECT_THAT(FindMisnamed(experiment.report, experiment.live, kRecorded), IsEmpty());
}

TEST(MeasureNames, ANearNameIsProposedAtItsPlace) {
  Experiment experiment = Comparing({"SPS", {{"measure", "eval/retrun"}, {"title", "x"}}});
  experiment.live = {"ep/lenght"};
  const std::vector<Misnamed> misnamed = FindMisnamed(experiment.report, experiment.live, kRecorded);
  ASSERT_THAT(misnamed, SizeIs(2));
  EXPECT_EQ("output.live.0", misnamed[0].path);
  EXPECT_EQ("output.live: nothing records 'ep/lenght'", misnamed[0].message);
  EXPECT_THAT(misnamed[0].near, Contains("ep/length"));
  EXPECT_THAT(misnamed[1].path, ::testing::StartsWith("report.columns.1"));
  EXPECT_THAT(misnamed[1].near, Contains("eval/return"));
}

TEST(MeasureNames, AnUnknownNameWithoutANeighbourMayBeAPluginsAndIsListedOnce) {
  const std::vector<Misnamed> misnamed = FindMisnamed(Comparing({"zebra/stripes", "zebra/stripes@max"}).report, {}, kRecorded);
  EXPECT_THAT(misnamed, ElementsAre(AllOf(Field(&Misnamed::path, "report.columns.0"), Field(&Misnamed::near, IsEmpty()))));
}

TEST(MeasureNames, APossiblePathIsOneName) {
  const std::vector<Misnamed> misnamed = FindMisnamed(Comparing({"2 * learner.options.lr"}).report, {}, kRecorded);
  ASSERT_THAT(misnamed, SizeIs(1));
  EXPECT_EQ("learner.options.lr", misnamed[0].name);
}

TEST(MeasureNames, ChecksTheComparedMetricInEveryReport) {
  const std::vector<Misnamed> misnamed = FindMisnamed({}, {}, kRecorded, "100 * eval/retrun");
  ASSERT_THAT(misnamed, SizeIs(1));
  EXPECT_EQ("compare.metric: nothing records 'eval/retrun'", misnamed[0].message);
}

TEST(MeasureNames, TheComparedMetricNeedsADirection) {
  const RecordedMeasures recorded = {{"ep/length", 0}, {"train/loss", -1}};
  for (const char* known : {"", "eval/return", "SPS", "wall_s", "train/loss", "train/loss@min", "device/peak_mb"})
    EXPECT_FALSE(IsUndirected({known, {}}, recorded)) << known;
  for (const char* unknown : {"ep/length", "2 * eval/return", "data/epoch", "zebra/stripes"})
    EXPECT_TRUE(IsUndirected({unknown, {}}, recorded)) << unknown;
  EXPECT_FALSE(IsUndirected({"ep/length", "down"}, recorded));
  const nlohmann::json columns = {{{"measure", "ep/length"}, {"direction", "down"}}};
  EXPECT_FALSE(IsUndirected({"ep/length", {}}, recorded, Comparing(columns).report));
  EXPECT_EQ(-1, DirectionOf("ep/length", recorded, Comparing(columns).report));
}

TEST(MeasureNames, OtherKindsNameNoMeasures) {
  Experiment experiment = Comparing({"nothing/like/it"});
  experiment.report.kind = "parallel_efficiency";
  EXPECT_THAT(FindMisnamed(experiment.report, experiment.live, kRecorded), IsEmpty());
}

}  // namespace
}  // namespace backplane
