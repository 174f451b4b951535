// The default report of a sweep.
#include "sweep_fixture.hpp"

namespace backplane {
namespace {

class ReportDefault : public SweepTest {
 protected:
  std::optional<std::string> KindWith(const std::string& lines) { return GoodPlan(lines).base.experiment.report.kind; }
};

const std::string kSearch =
    "sweep:\n  search: {trials: 4, objective: {metric: eval/return}, space: {env.options.legs: {int: [2, 8]}}}\n";

TEST_F(ReportDefault, ASearchHasAReportOfItsKindByDefault) {
  EXPECT_EQ(KindWith(kSearch), "search");
  EXPECT_EQ(KindWith(kSearch + "report: {name: legs}\n"), "search");
  EXPECT_EQ(KindWith(kSearch + "report: {kind: comparison}\n"), "comparison");
}

TEST_F(ReportDefault, OtherSweepsHaveNone) {
  EXPECT_EQ(KindWith("sweep: {random: {trials: 2, space: {env.options.legs: {int: [2, 8]}}}}\n"), std::nullopt);
  EXPECT_EQ(KindWith(""), std::nullopt);
}

}  // namespace
}  // namespace backplane
