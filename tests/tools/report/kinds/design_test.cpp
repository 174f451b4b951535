// The file's reasons, the section "Not tried", and the figure of trade-offs.
#include "kinds/design.hpp"

#include <gmock/gmock.h>

#include "kinds/report_builders.hpp"
#include "kinds/tradeoff_figure.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using namespace test_support;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> ItemsOf(const Section& section) { return std::get<BulletList>(section.blocks.front()).items; }
const Section* SectionOf(const Document& document, const std::string& id) {
  for (const Section& section : document.sections)
    if (section.id == id) return &section;
  return nullptr;
}

TEST(BeyondEdge, KeepsFactorOrDifference) {
  EXPECT_EQ(16, BeyondEdge(8, 4, true, true));
  EXPECT_EQ(1, BeyondEdge(2, 4, true, true));
  EXPECT_DOUBLE_EQ(1e-5, *BeyondEdge(1e-4, 1e-3, true, false));
  EXPECT_EQ(-1, BeyondEdge(0, 1, false, true));
  EXPECT_EQ(30, BeyondEdge(20, 10, false, true)) << "an axis with 0 has no factor";
  EXPECT_EQ(std::nullopt, BeyondEdge(1, 4, true, true)) << "no fraction of an env";
  EXPECT_EQ(std::nullopt, BeyondEdge(1, 2, true, true)) << "1 / 2 rounds to 1, which was tried";
}

TEST(NotTried, NamesAxesWhoseBestValueIsAtTheirEdge) {
  const std::vector<ResultSet> sets = {Set({Trial(1, 1, 1000), Trial(1, 4, 3000), Trial(2, 4, 4000), Trial(2, 1, 1900)})};
  const Combined combined = Combine(sets);
  const auto items = [&](size_t best) { return ItemsOf(NotTriedSection(combined, BestConfiguration{"SPS", {best}})); };
  size_t fastest = 0;
  for (size_t i = 0; i < combined.trials.size(); ++i)
    if (combined.trials[i].data.Find("SPS")->value == 4000) fastest = i;
  EXPECT_THAT(items(fastest),
              ElementsAre("rollout.num_env_runners: the best SPS is at 2, the highest of the 2 values tried. Try 4 as well: "
                          "`--sweep rollout.num_env_runners=2,4`",
                          "rollout.num_envs_per_env_runner: the best SPS is at 4, the highest of the 2 values tried. Try 16 as "
                          "well: `--sweep rollout.num_envs_per_env_runner=4,16`",
                          "Other seeds: tried seed 0 only. For 5: `sweep: {seeds: {n: 5}}`", "Other envs: tried walker.",
                          "Other hardware: tried c with 2 cores, no GPU."));
  EXPECT_THAT(ItemsOf(NotTriedSection(combined, std::nullopt)), testing::SizeIs(3)) << "without a best one, no axes";
}

TEST(NotTried, AnAxisWithItsBestInTheMiddleHasNoEdge) {
  const Combined combined = Combine({Set({Trial(1, 1, 10), Trial(2, 1, 30), Trial(4, 1, 20)})});
  for (const std::string& item : ItemsOf(NotTriedSection(combined, BestConfiguration{"SPS", {1}})))
    EXPECT_THAT(item, Not(HasSubstr("runner")));
}

TEST(ParetoFront, HoldsPointsThatNoOtherBeats) {
  const std::vector<TradeOffPoint> points = {{100, 10}, {50, 20}, {40, 15}, {20, 20}, {10, 30}};
  EXPECT_THAT(ParetoFront(points, false), ElementsAre(4, 1, 0)) << "(20, 20) is as fast as (50, 20) and less efficient";
  EXPECT_THAT(ParetoFront(points, true), ElementsAre(4)) << "least memory and fastest";
  EXPECT_THAT(ParetoFront({{1, 1}, {1, 1}}, false), testing::SizeIs(2)) << "equal points do not beat each other";
  EXPECT_TRUE(ParetoFront({}, false).empty());
}

TEST(TradeOff, MarksFrontAndRecommendations) {
  std::vector<TrialData> trials = {Trial(1, 1, 1000), Trial(2, 1, 1900), Trial(2, 2, 1700), Trial(4, 4, 2500)};
  trials[3].measures["rss_peak_mb"] = Single(900);
  const Document document = ParallelEfficiencyReport({Set(trials)}, Context("parallel_efficiency"));
  const Figure& figure = FigureOf(document, "trade_off");
  EXPECT_THAT(PanelsOf(figure), ElementsAre("Speed and efficiency", "Speed and memory", "Speed and return"));
  std::vector<std::string> front;
  for (const auto& row : RowsOf(figure, "Speed and efficiency", "front")) front.push_back(row["name"]);
  EXPECT_THAT(front, ElementsAre("4 x 4", "2 x 1", "1 x 1")) << "2 x 2 is slower and less efficient than 2 x 1";
  std::map<std::string, std::string> roles;
  for (const auto& row : RowsOf(figure, "Speed and memory", "mean")) roles[row["name"]] = row["series"];
  EXPECT_EQ("not on the front", roles["2 x 2"]);
  EXPECT_THAT(roles["4 x 4"], testing::StartsWith("best for throughput"));
  EXPECT_THAT(TableOf(document, "recommended").notes,
              testing::Contains("Pareto front of speed and efficiency, by means: 4 x 4, 2 x 1, 1 x 1."));
}

TEST(Reasons, AppearInTheDesignOfBothKinds) {
  std::vector<TrialData> trials = {Trial(1, 1, 1000), Trial(2, 1, 1900)};
  trials[0].reason = "the baseline";
  ResultSet set = Set(trials);
  set.run.whys = {{"rollout.num_env_runners", "is a second core worth it?"}};
  const Document efficiency = ParallelEfficiencyReport({set}, Context("parallel_efficiency"));
  const Table& reasons = TableOf(efficiency, "reasons");
  ASSERT_EQ(2u, reasons.rows.size());
  EXPECT_EQ("rollout.num_env_runners", TextAt(reasons, 0, "of"));
  EXPECT_EQ("is a second core worth it?", TextAt(reasons, 0, "why"));
  EXPECT_EQ("the baseline", TextAt(reasons, 1, "why"));
  const Document comparison = ComparisonReport({set}, Context("comparison"));
  EXPECT_EQ(2u, TableOf(comparison, "reasons").rows.size());
  EXPECT_NE(nullptr, SectionOf(comparison, "not_tried"));
  EXPECT_EQ(nullptr, SectionOf(ComparisonReport({Set(trials = {Trial(1, 1, 1000)})}, Context("comparison")), "design"));
}

}  // namespace
}  // namespace backplane
