// The report of a search, from suggestions made by hand.
#include <gmock/gmock.h>

#include "kinds/report_builders.hpp"
#include "made_study.hpp"
#include "report_parts.hpp"

namespace backplane {
namespace {

using test_support::AttachmentOf;
using test_support::Context;
using test_support::FigureOf;
using test_support::MadeSearch;
using test_support::NumberAt;
using test_support::RowsOf;
using test_support::TableOf;
using test_support::TextAt;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Document ReportOf(const MadeSearch& search) { return SearchReport({search.Results()}, Context("search")); }

bool HasFigure(const Document& document, const std::string& name) {
  return std::any_of(document.figures.begin(), document.figures.end(),
                     [&](const Figure& figure) { return figure.name == name; });
}

// Twelve suggestions whose score depends only on their learning rate.
MadeSearch ByRate() {
  MadeSearch search;
  for (int i = 0; i < 12; ++i) search.Complete(std::pow(10, -4.5 + 0.25 * i), i % 2 == 0 ? "ppo" : "ars", 100 + i);
  return search;
}

TEST(SearchReport, ReportsTheBestSettingAndTheTrialsOutcomes) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443)
      .Complete(1e-4, "ars", 431)
      .Ended(1e-2, StudyState::kPruned, {{1, 900}})
      .Ended(1e-2, StudyState::kFailed);
  const Document document = ReportOf(search);
  EXPECT_EQ(document.verdict[0],
            "Best setting: lr 0.001, plugin ppo (number 0): return 443, the highest of 2 complete trials.");
  EXPECT_THAT(document.verdict, Contains("4 suggestions by tpe: 2 complete, 1 pruned, 1 failed."));
  EXPECT_THAT(document.verdict, Contains(HasSubstr("Each point ran with one seed")));
  EXPECT_THAT(document.verdict, Contains(StartsWith("The importance of options needs")));
  search.study().maximize = false;
  EXPECT_THAT(ReportOf(search).verdict[0], HasSubstr("plugin ars (number 1): return 431, the lowest of 2"));
}

TEST(SearchReport, WithoutACompleteTrialThereIsNoBestSetting) {
  MadeSearch search;
  search.Ended(1e-3, StudyState::kRunning, {{1, 5}, {2, 6}});
  EXPECT_EQ(ReportOf(search).verdict[0], "No trial is complete yet, 1 is running: there is no best setting yet.");
  search.Complete(1e-3, "ppo", 7);
  EXPECT_THAT(ReportOf(search).verdict[0], HasSubstr("the highest of 1 complete trial."));
  EXPECT_THAT(ReportOf(MadeSearch()).verdict, Contains("No suggestion yet."));
}

// By hand: the lead of 12 over number 1 shrank to 3. Its standard error is sqrt(1 / 3 + 1 / 3) = 0.816, with t = 2.776 of 4
// degrees of freedom the interval is 3 ± 2.27. The shares are 1 - 3 / 12, 1 - 5.27 / 12 and 1 - 0.733 / 12. The larger of two
// standard normal numbers is 1 / sqrt(pi) = 0.564 on average, times sqrt(1 / 3) = 0.326.
TEST(SearchReport, ReportsHowMuchOfTheLeadWasLuck) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443).Complete(1e-4, "ars", 431).Confirm(0, {430, 431, 432}).Confirm(1, {427, 428, 429});
  const Document document = ReportOf(search);
  EXPECT_THAT(document.verdict[0], StartsWith("Best setting: lr 0.001, plugin ppo (number 0, of 2 trials): return 431"));
  EXPECT_THAT(document.verdict[0],
              HasSubstr("with 3 fresh seeds (± is a 95 % interval). 2 of the 2 trials were run again with fresh seeds."));
  EXPECT_EQ(
      document.verdict[1],
      "In the search, number 0 led number 1 by 12. With 3 fresh seeds each, the lead of number 0 is 3 (95 % interval 0.733 to "
      "5.27). "
      "So 75 % of the lead in the search was luck (95 % interval 56 to 94 %).");
  EXPECT_THAT(document.verdict[0],
              HasSubstr(" Number 0 is better than number 1 by 3 with fresh seeds (95 % interval 0.733 to 5.27)."));
  EXPECT_EQ(document.verdict[2],
            "Number 0 was chosen from 2 settings by these fresh seeds, so its value is too high on average: by 0.326 if the "
            "settings are equal, else by less.");
  EXPECT_THAT(document.verdict, Not(Contains(HasSubstr("Each point ran with one seed"))));
  const Table& table = TableOf(document, "confirmed");
  EXPECT_EQ(NumberAt(table, 0, "luck"), 12);
  EXPECT_EQ(NumberAt(table, 1, "luck"), 3);
}

TEST(SearchReport, FreshSeedsMayTurnTheOrder) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443).Complete(1e-4, "ars", 431).Confirm(0, {400, 410, 420}).Confirm(1, {410, 420, 435});
  const Document document = ReportOf(search);
  EXPECT_THAT(document.verdict[0], StartsWith("Leading setting, not shown to be the best: lr "));
  EXPECT_THAT(document.verdict[0], HasSubstr("plugin ars (number 1, of 2 trials)"));
  EXPECT_THAT(document.verdict[1],
              StartsWith("In the search, number 0 led number 1 by 12. With 3 fresh seeds each, the lead of number 0 is "
                         "-11.7 (95 % interval -"));
  EXPECT_THAT(
      document.verdict[0],
      HasSubstr("Number 1 is not shown to be better than number 0: the lead with fresh seeds is 11.7 (95 % interval -"));
  EXPECT_THAT(document.verdict[0], HasSubstr("Number 0 scored 443 in the search (number 1: 431, one seed each), but 410.0 "));
  EXPECT_THAT(AttachmentOf(document, "best_search.yaml"), HasSubstr("plugin: ars"));
}

// By hand: se = 0.816 as above. Three pairs share 5 %, so each has t = 3.961 (0.0083 of 4 degrees of freedom) and the interval
// is 3 ± 3.234. 3 seeds times (3.234 / 3)^2 is 3.49.
TEST(SearchReport, TheBestOfThreeConfirmedSettingsIsChosenFromThreePairs) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443).Complete(1e-4, "ars", 431).Complete(1e-2, "ars", 420);
  search.Confirm(0, {430, 431, 432}).Confirm(1, {427, 428, 429}).Confirm(2, {407, 408, 409});
  const Document document = ReportOf(search);
  EXPECT_THAT(
      document.verdict[0],
      HasSubstr(
          "Number 0 is not shown to be better than number 1: the lead with fresh seeds is 3 (95 % interval -0.234 to 6.23, "
          "widened for 3 pairs of settings). About 4 seeds per setting instead of 3 (sweep.search.confirm.seeds) would show a "
          "lead of this size."));
}

MadeSearch ToAGoal() {
  MadeSearch search;
  search.study().metric = "steps_to(eval/return, 475)";
  search.study().maximize = false;
  search.Complete(1e-3, "ppo", 10).Complete(1e-4, "ars", 20);
  return search;
}

// Two of the 70 ways to deal 8 trials to two settings are as extreme as all sooner. One trial that never arrives is so late
// that the interval of the means contains 0, as Welch's would.
TEST(SearchReport, OrdersStepsToAGoalByTheLogRankTest) {
  MadeSearch search = ToAGoal();
  search.ConfirmSteps(0, {10, 11, 12, 13}).ConfirmSteps(1, {20, 21, 23, -200});
  const Document document = ReportOf(search);
  EXPECT_THAT(document.verdict[0], StartsWith("Best setting: lr 0.001, plugin ppo (number 0"));
  EXPECT_THAT(
      document.verdict[0],
      HasSubstr("Number 0 is better than number 1 by 54.5 env steps with fresh seeds (log-rank test, p = 0.029; 1 never "
                "reached it within 200)."));
}

// The censored trial of number 0 was observed for as long as its last step, which may be sooner than the goal.
TEST(SearchReport, AGoalThatWasNotReachedIsNotItsLastStep) {
  MadeSearch search = ToAGoal();
  search.ConfirmSteps(0, {-10, -11, -12, -13}).ConfirmSteps(1, {20, 21, 22, 23});
  EXPECT_THAT(ReportOf(search).verdict[0], StartsWith("Leading setting, not shown to be the best: lr 0.001"));
}

// The least p of 3 against 3 is 2 / 20, of 4 against 4 it is 2 / 70.
TEST(SearchReport, ReportsTooFewSeedsForTheLogRankTest) {
  MadeSearch search = ToAGoal();
  search.ConfirmSteps(0, {10, 11, 12}).ConfirmSteps(1, {20, 21, 22});
  EXPECT_THAT(ReportOf(search).verdict[0],
              HasSubstr("Number 0 is not shown to be better than number 1: the lead with fresh seeds is 10 env steps (log-rank "
                        "test, p = 0.1). 3 seeds per setting cannot show any lead; use at least 4 "
                        "(sweep.search.confirm.seeds)."));
  search.Complete(1e-2, "ars", 30).ConfirmSteps(2, {30, 31, 32});
  EXPECT_THAT(ReportOf(search).verdict[0],
              HasSubstr("p = 0.3 after correction for 3 pairs of settings). 3 seeds per setting cannot show any lead; use at "
                        "least 5 (sweep.search.confirm.seeds)."));
}

TEST(SearchReport, AnIntervalThatExcludesNothingLeavesLuckUnknown) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443).Complete(1e-4, "ars", 431).Confirm(0, {400, 430, 460}).Confirm(1, {395, 425, 455});
  EXPECT_THAT(ReportOf(search).verdict[1], HasSubstr("How much of the lead in the search was luck is unknown."));
}

TEST(SearchReport, TheSearchsBestLeadsUntilAllFreshSeedsHaveEnded) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443).Complete(1e-4, "ars", 431).Confirm(0, {400, std::nan("")}).Confirm(1, {500, 501});
  const Document document = ReportOf(search);
  EXPECT_THAT(document.verdict[0], StartsWith("Best setting: lr 0.001, plugin ppo (number 0): return 443"));
  EXPECT_THAT(document.verdict, Contains("The best 2 are run again with fresh seeds: 3 of 4 trials have ended."));
}

TEST(SearchReport, ASettingWithoutAFreshSeedsScoreIsNotTheBest) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 443).Complete(1e-4, "ars", 431).Confirm(0, {600, INFINITY, 600}).Confirm(1, {427, 428, 429});
  Document document = ReportOf(search);
  EXPECT_THAT(document.verdict[0], StartsWith("Best setting: lr 0.0001, plugin ars (number 1"));
  EXPECT_THAT(document.verdict, Contains("Not considered: number 0 (1 of 3 fresh seeds without a finite score)."));
  MadeSearch none;
  none.Complete(1e-3, "ppo", 443).Confirm(0, {600, INFINITY});
  document = ReportOf(none);
  EXPECT_EQ(document.verdict[0], "No best setting: no setting has a finite score with each of its fresh seeds.");
  EXPECT_EQ(AttachmentOf(document, "best_search.yaml"), "none");
}

TEST(SearchReport, WarnsIfTheBestIsAtAnEdge) {
  MadeSearch search;
  search.Complete(0.099, "ppo", 2).Complete(1e-3, "ars", 1);
  EXPECT_THAT(ReportOf(search).verdict,
              Contains("The best setting is at the upper edge of the search space: learner.options.lr = 0.099, of 1e-5 to 0.1; "
                       "better settings may lie beyond."));
  MadeSearch inside;
  inside.Complete(1e-3, "ppo", 2);
  EXPECT_THAT(ReportOf(inside).verdict, Not(Contains(HasSubstr("edge"))));
}

TEST(SearchReport, WritesTheBestSettingAsAFileThatRunsTheSame) {
  const std::string file = AttachmentOf(ReportOf(ByRate()), "best_search.yaml");
  EXPECT_THAT(file, HasSubstr("experiment: walk_best\n"));
  EXPECT_THAT(file, HasSubstr("iterations: 3"));
  EXPECT_THAT(file, Not(HasSubstr("without a budget")));
  EXPECT_THAT(file, HasSubstr("number 11"));
  EXPECT_EQ(AttachmentOf(ReportOf(MadeSearch()), "best_search.yaml"), "none");
}

TEST(SearchReport, TheOptionThatDecidesIsTheMostImportant) {
  const Document document = ReportOf(ByRate());
  const Table& table = TableOf(document, "importance");
  EXPECT_EQ(TextAt(table, 0, "option"), "learner.options.lr");
  EXPECT_GT(NumberAt(table, 0, "share_pct"), 70);
  EXPECT_LT(NumberAt(table, 1, "share_pct"), 20);
  EXPECT_TRUE(HasFigure(document, "importance"));
  MadeSearch few;
  for (int i = 0; i < 9; ++i) few.Complete(1e-3 * (1 + i), "ppo", i);
  EXPECT_FALSE(HasFigure(ReportOf(few), "importance"));
}

TEST(SearchReport, TheBestSoFarNeverFallsAndPrunedTrialsDoNotRaiseIt) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 5).Ended(1e-2, StudyState::kPruned, {{1, 99}}).Complete(1e-4, "ars", 3).Complete(1e-4, "ars", 8);
  search.Ended(1e-2, StudyState::kFailed);
  const Document document = ReportOf(search);
  const Figure& figure = FigureOf(document, "best_so_far");
  std::vector<std::pair<double, double>> steps;
  for (const nlohmann::json& row : RowsOf(figure, "By number", "best")) steps.emplace_back(row["x"], row["value"]);
  EXPECT_THAT(steps, ElementsAre(std::pair(0, 5), std::pair(3, 8), std::pair(4, 8)));
  const std::vector<nlohmann::json> trials = RowsOf(figure, "By number", "trial");
  ASSERT_EQ(trials.size(), 5u);
  EXPECT_EQ(trials[1]["state"], "pruned");
  EXPECT_EQ(trials[1]["place"], 99);
  EXPECT_EQ(trials[1]["_lr"], "0.01");
  EXPECT_TRUE(trials[4]["value"].is_null());
  EXPECT_EQ(trials[4]["place"], 3) << "at the lowest value, which is visible";
}

TEST(SearchReport, ALineOfParallelCoordinatesGoesThroughEveryOption) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 5).Complete(1e-5, "ars", 3).Ended(1e-2, StudyState::kPruned, {{1, 4}});
  const Document document = ReportOf(search);
  const Figure& figure = FigureOf(document, "parallel_coordinates");
  const std::vector<nlohmann::json> best = RowsOf(figure, "A line for each trial", "best");
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0]["place"], 0.5) << "half of four decades";
  EXPECT_EQ(best[1]["said"], "ppo");
  EXPECT_EQ(best[2]["place"], 1);
  EXPECT_EQ(RowsOf(figure, "A line for each trial", "pruned").back()["place"], 0.5);
  EXPECT_EQ(RowsOf(figure, "A line for each trial", "complete").front()["standing"], 1) << "the worse of two";
}

TEST(SearchReport, EachSuggestionIsARow) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 5).Ended(1e-2, StudyState::kPruned, {{1, 99}, {7, 98}});
  const Document document = ReportOf(search);
  const Table& table = TableOf(document, "suggestions");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(TextAt(table, 1, "state"), "pruned");
  EXPECT_EQ(NumberAt(table, 1, "value"), 98);
  EXPECT_EQ(NumberAt(table, 1, "steps"), 7);
  EXPECT_EQ(NumberAt(table, 0, "seconds"), 10);
  EXPECT_THAT(table.emphasised, ElementsAre(0));
}

TEST(SearchReport, APrunedTrialThatCameToItsEndCounts) {
  MadeSearch search;
  search.Complete(1e-3, "ppo", 5).Ended(1e-2, StudyState::kPruned, {{7, 98}}).Ended(1e-2, StudyState::kPruned, {{7, 97}});
  search.CameToEnd(2, 123);
  const Document document = ReportOf(search);
  EXPECT_THAT(document.verdict[0], HasSubstr("(number 2): return 123, the highest of 2 complete trials."));
  EXPECT_THAT(document.verdict, Contains("3 suggestions by tpe: 2 complete, 1 pruned. 1 pruned trial ran to its end anyway."));
  const Table& table = TableOf(document, "suggestions");
  EXPECT_EQ(NumberAt(table, 0, "value"), 123);
  EXPECT_EQ(TextAt(table, 0, "why"), "pruned at 97, but completed");
}

}  // namespace
}  // namespace backplane
