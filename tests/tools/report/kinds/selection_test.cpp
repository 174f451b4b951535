// The points that a comparison may select, and the reasons against the others.
#include <gmock/gmock.h>

#include <cmath>

#include "kinds/comparison_scores.hpp"
#include "kinds/report_builders.hpp"
#include "report_parts.hpp"
#include "result_sets.hpp"

namespace backplane {
namespace {

using test_support::At;
using test_support::AttachmentOf;
using test_support::Context;
using test_support::FailedTrial;
using test_support::Set;
using test_support::Single;
using test_support::TableOf;
using test_support::TextAt;
using test_support::Trial;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kMeasure[] = "eval/return";

// A point with four seeds; higher points have higher scores.
class PointOfSeeds {
 public:
  explicit PointOfSeeds(uint64_t runners) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      trials_.push_back(Trial(runners, 1, 1000, seed));
      trials_.back().measures[kMeasure] = Single(10.0 * static_cast<double>(runners) + static_cast<double>(seed));
    }
  }
  // Replaces the last seed.
  PointOfSeeds& Ends(const std::string& state, const std::string& outcome) {
    TrialData& last = trials_.back();
    last.state = FromWord<TrialState>(state).value();
    last.outcome = FromWord<Outcome>(outcome);
    if (!last.usable()) last.measures.clear();
    return *this;
  }
  PointOfSeeds& Scores(std::optional<double> value) {
    trials_.back().measures.erase(kMeasure);
    if (value) trials_.back().measures[kMeasure] = Single(*value);
    return *this;
  }
  PointOfSeeds& IsNeverFinite() {
    for (TrialData& trial : trials_) {
      trial.measures.erase(kMeasure);
      trial.not_finite[kMeasure] = {0, 10, false};
    }
    return *this;
  }
  PointOfSeeds& AllDiverge() {
    for (TrialData& trial : trials_) trial.measures[kMeasure] = Single(NAN);
    return *this;
  }
  void AddTo(std::vector<TrialData>* all) const { all->insert(all->end(), trials_.begin(), trials_.end()); }

 private:
  std::vector<TrialData> trials_;
};

Document Selected(const std::vector<PointOfSeeds>& points, const nlohmann::json& more = nlohmann::json::object()) {
  std::vector<TrialData> trials;
  for (const PointOfSeeds& point : points) point.AddTo(&trials);
  nlohmann::json report = {{"columns", {kMeasure}}, {"select", {{"metric", kMeasure}}}};
  report.update(more);
  return ComparisonReport({Set(trials)}, Context("comparison", report));
}

struct Flaw {
  PointOfSeeds point;
  std::string why;
};
std::vector<Flaw> Flaws(uint64_t runners) {
  const auto point = [runners] { return PointOfSeeds(runners); };
  return {{point().Ends("FAILED", "nan"), "1 of 4 runs diverged"},
          {point().Scores(NAN), "1 of 4 runs diverged"},
          {point().Scores(-INFINITY), "1 of 4 runs diverged"},
          {point().Ends("FAILED", "plugin"), "1 of 4 runs failed"},
          {point().Ends("FAILED", "timeout"), "1 of 4 runs failed"},
          {point().Ends("INFEASIBLE", "oom"), "1 of 4 runs failed"},
          {point().Ends("PLANNED", "killed"), "1 of 4 runs did not finish"},
          {point().Ends("RUNNING", ""), "1 of 4 runs did not finish"},
          {point().Ends("SKIPPED", ""), "1 of 4 runs did not finish"},
          {point().Scores(std::nullopt), "1 of 4 runs have no eval/return"},
          {point().IsNeverFinite(), "4 of 4 runs have no eval/return"}};
}

TEST(Selection, SkipsPointsWithADivergedFailedOrMissingTrial) {
  for (const Flaw& flaw : Flaws(4)) {
    const Document document = Selected({PointOfSeeds(1), PointOfSeeds(2), flaw.point});
    EXPECT_THAT(document.verdict[1], AllOf(StartsWith("Selected: runners=2 envs=1, with the highest eval/return"),
                                           HasSubstr("Not eligible: runners=4 envs=1 (" + flaw.why + ").")));
    EXPECT_THAT(AttachmentOf(document, "selected.yaml"), HasSubstr("num_env_runners: 2"));
    EXPECT_THAT(TextAt(TableOf(document, "results"), 2, "remark"), HasSubstr("not eligible: " + flaw.why));
    EXPECT_THAT(TextAt(TableOf(document, "results"), 1, "remark"), Not(HasSubstr("eligible")));
    EXPECT_THAT(document.verdict[0], testing::AnyOf(HasSubstr("runners=2 envs=1 was selected by eval/return"),
                                                    HasSubstr("runners=2 envs=1 has the best eval/return")))
        << flaw.why;
  }
}

TEST(Selection, WithoutAnEligiblePointWritesNoFile) {
  for (const Flaw& flaw : Flaws(1)) {
    const Document document = Selected({flaw.point, PointOfSeeds(2).Ends("FAILED", "plugin")});
    EXPECT_THAT(document.verdict[1], AllOf(StartsWith("No point was selected"),
                                           HasSubstr("runners=1 envs=1 (" + flaw.why + "), runners=2 envs=1 (1 of")));
    EXPECT_EQ(AttachmentOf(document, "selected.yaml"), "none") << flaw.why;
    EXPECT_TRUE(TableOf(document, "results").emphasised.empty());
  }
}

TEST(Selection, NamesAFewExcludedPointsAndMarksAll) {
  std::vector<PointOfSeeds> points = {PointOfSeeds(1)};
  for (uint64_t runners = 2; runners < 8; ++runners) points.push_back(PointOfSeeds(runners).Ends("FAILED", "plugin"));
  const Document document = Selected(points);
  EXPECT_THAT(document.verdict[1], HasSubstr("runners=5 envs=1 (1 of 4 runs failed), 2 more (see the remarks)."));
  for (size_t row = 1; row < points.size(); ++row)
    EXPECT_THAT(TextAt(TableOf(document, "results"), row, "remark"), HasSubstr("not eligible: 1 of 4 runs failed"));
}

TEST(Selection, WithoutASelectionTheBestIsAnEligiblePoint) {
  for (const Flaw& flaw : Flaws(4)) {
    if (flaw.why.starts_with("4 of 4")) continue;  // it has no value to compare
    const Document document = Selected({PointOfSeeds(1), PointOfSeeds(2), flaw.point}, {{"select", nullptr}});
    EXPECT_THAT(document.verdict[0], AllOf(testing::ContainsRegex("^runners=2 envs=1 (leads by|has the best) eval/return"),
                                           HasSubstr("not considered: runners=4 envs=1 (" + flaw.why + ")")));
  }
  EXPECT_THAT(
      Selected({PointOfSeeds(1).Scores(NAN), PointOfSeeds(2).Ends("FAILED", "plugin")}, {{"select", nullptr}}).verdict[0],
      AllOf(HasSubstr("No point can be the best by eval/return: runners=1"),
            HasSubstr("runners=2 envs=1 (1 of 4 runs failed)")));
}

TEST(Selection, ShowsNotFiniteInsteadOfAnEmptyCell) {
  const Document document = Selected({PointOfSeeds(1), PointOfSeeds(2).IsNeverFinite()});
  EXPECT_EQ(TextAt(TableOf(document, "results"), 1, "eval_return"), "not finite");
  EXPECT_THAT(TextAt(TableOf(document, "results"), 1, "remark"),
              HasSubstr("eval/return: 40 of the last 40 values are not finite"));
}

// Not the worst score of the other points, which would read as measured.
TEST(Selection, ShowsDivergedInsteadOfASubstitute) {
  const Document document = Selected({PointOfSeeds(1), PointOfSeeds(2).AllDiverge()});
  EXPECT_EQ(TextAt(TableOf(document, "results"), 1, "eval_return"), "diverged");
  EXPECT_EQ(TextAt(TableOf(document, "results"), 1, "remark"), "not eligible: 4 of 4 runs diverged; 4 of 4 seeds diverged");
}

// Verdicts against a baseline.
class VerdictsOfFlaws : public testing::Test {
 protected:
  static std::map<std::string, std::string> Judge(const std::vector<PointOfSeeds>& points,
                                                  const std::string& direction = "up") {
    const Document document =
        Selected(points, {{"baseline", "runners=1 envs=1"},
                          {"columns", nlohmann::json::array({{{"measure", kMeasure}, {"direction", direction}}})}});
    const Table& judged = TableOf(document, "improvement");
    std::map<std::string, std::string> verdicts;
    for (size_t row = 0; row < judged.rows.size(); ++row)
      verdicts[TextAt(judged, row, "point")] = TextAt(judged, row, "verdict");
    return verdicts;
  }
};

TEST_F(VerdictsOfFlaws, AFailedOrMissingRunLeavesTheOtherPointsTheirs) {
  for (const Flaw& flaw : Flaws(4)) {
    if (flaw.why.find("diverged") != std::string::npos || flaw.why.starts_with("4 of 4")) continue;
    const auto verdicts = Judge({PointOfSeeds(1), PointOfSeeds(2), flaw.point});
    EXPECT_EQ(verdicts.at("runners=4 envs=1"), "incomplete") << flaw.why;
    EXPECT_EQ(verdicts.at("runners=2 envs=1"), "better") << flaw.why;
  }
}

TEST_F(VerdictsOfFlaws, ADivergedRunCountsAsTheWorstOfAnyPoint) {
  for (const Flaw& flaw : Flaws(4)) {
    if (flaw.why.find("diverged") == std::string::npos) continue;
    // 40, 41, 42 and 10, the worst of all scores.
    EXPECT_EQ(Judge({PointOfSeeds(1), PointOfSeeds(2), flaw.point}).at("runners=4 envs=1"),
              "no difference shown, 1 of 4 runs diverged");
    // If lower is better, 42 is the worst unless a different point has a greater one.
    EXPECT_EQ(Judge({PointOfSeeds(1), PointOfSeeds(2), flaw.point}, "down").at("runners=4 envs=1"),
              "worse, 1 of 4 runs diverged");
  }
}

// A command registers no measures; its curves show which ones it has.
TEST(DivergedRuns, CountInACommandsOwnMeasure) {
  std::vector<TrialData> trials;
  for (const uint64_t runners : {1, 2}) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      TrialData trial = Trial(runners, 1, 1000, seed);
      trial.measures["valid_loss"] = Single(static_cast<double>(10 * runners + seed));
      trial.curves["valid_loss"] = {{1, 100, 1, 5}};
      if (runners == 2 && seed == 3) {
        trial.state = TrialState::kFailed;
        trial.outcome = Outcome::kNan;
        trial.measures.clear();
      }
      trials.push_back(trial);
    }
  }
  const Combined combined = Combine({Set(trials)});
  const std::vector<ComparedPoint> points = PointsOf(combined);
  MeasureSpec loss = *MeasureOfText("valid_loss"), speed = *MeasureOfText("SPS");
  loss.direction = -1;
  EXPECT_THAT(Scoring(combined, points).Scores(1, loss).values, testing::ElementsAre(20, 21, 22, 22));
  EXPECT_EQ(Scoring(combined, points).Scores(1, loss).diverged, 1u);
  EXPECT_THAT(Scoring(combined, points).Scores(1, speed).values, testing::SizeIs(3)) << "no speed is reduced by it";
  EXPECT_EQ(Scoring(combined, points).Scores(1, speed).missing, 0u);
}

}  // namespace
}  // namespace backplane
