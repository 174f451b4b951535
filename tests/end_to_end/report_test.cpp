// Reports of a batch as a user makes them: by `run`, by `report`, from folders in any order.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kSweep[] = R"(
experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}
budget: {iterations: 5}
monitors: []
sweep: {grid: {rollout.num_env_runners: [1, 2], rollout.num_envs_per_env_runner: [1, 2]}, seeds: {n: 1}}
report: {kind: parallel_efficiency}
)";

constexpr char kFailing[] = R"(
experiment: mixed
env: {plugin: misbehaves}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 4}
monitors: []
on_failure: {signal: fail}
sweep: {list: [{name: good, env.options.how: not}, {name: crash, env.options.how: segv}, {name: memory, env.options.how: device_oom}]}
report: {kind: comparison, baseline: good, columns: [return, "100 * return / minutes", wall_s],
         figures: [{bars: {file: returns.png, y: return}}, {curves: {file: curves.png, y: [SPS, return]}}, {table: {file: table.png}}],
         select: {metric: return, direction: maximize, write: selected.yaml}}
)";

class Report : public ProgramTest {
 protected:
  std::filesystem::path Folder(const std::string& experiment) { return dir_ / "outputs" / experiment / "report"; }
  std::string Text(const std::filesystem::path& file) { return ReadFile(file); }
  // Removes the parts that may differ between two reports of the same results.
  static std::string Dateless(const std::string& text) {
    return std::regex_replace(text, std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d UTC)"), "DATE");
  }
};

TEST_F(Report, ABatchEndsWithFiguresTablesAndAVerdict) {
  Write("walk.yaml", kSweep);
  const Finished run = Run("run walk.yaml");
  ASSERT_EQ(0, run.exit) << run.err;
  EXPECT_THAT(run.out, testing::AnyOf(HasSubstr("Too few seeds to name the fastest setting"),
                                      HasSubstr("Not trustworthy: the machine was busy")));  // by other tests, perhaps
  EXPECT_THAT(run.out, HasSubstr("parallel_efficiency_report.html"));
  for (const char* name :
       {"parallel_efficiency_report.html", "parallel_efficiency_report.md", "parallel_efficiency_report.txt",
        "parallel_efficiency_results.csv", "parallel_efficiency_results.json", "parallel_efficiency_analysis.png",
        "time_shares.png", "figures/parallel_efficiency_analysis.vl.json", "recommended_throughput.yaml"}) {
    EXPECT_GT(Text(Folder("walk") / name).size(), 50u) << name;
  }
  EXPECT_EQ("\x89PNG", Text(Folder("walk") / "parallel_efficiency_analysis.png").substr(0, 4));
  const nlohmann::json results = nlohmann::json::parse(Text(Folder("walk") / "parallel_efficiency_results.json"));
  EXPECT_EQ(1, results.at("schema_version"));
}

TEST_F(Report, ARecommendedFileRuns) {
  Write("walk.yaml", kSweep);
  ASSERT_EQ(0, Run("run walk.yaml --quiet").exit);
  const std::string file = "run outputs/walk/report/recommended_throughput.yaml";
  const Finished refused = Run(file);
  EXPECT_EQ(2, refused.exit);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("budget: expected at least one limit"), HasSubstr(file + " --set budget.iterations=100\n")));
  const Finished run = Run(file + " --set budget.iterations=3");
  EXPECT_EQ(0, run.exit) << run.err;
  EXPECT_THAT(run.out, HasSubstr("walk_recommended_throughput: COMPLETED"));
}

TEST_F(Report, IsReproducibleExceptForTheDate) {
  Write("walk.yaml", kSweep);
  ASSERT_EQ(0, Run("run walk.yaml --quiet").exit);
  const std::string html = Text(Folder("walk") / "parallel_efficiency_report.html");
  const std::string png = Text(Folder("walk") / "parallel_efficiency_analysis.png");
  ASSERT_EQ(0, Run("report outputs/walk").exit);
  EXPECT_EQ(Dateless(html), Dateless(Text(Folder("walk") / "parallel_efficiency_report.html")));
  EXPECT_EQ(png, Text(Folder("walk") / "parallel_efficiency_analysis.png"));
}

TEST_F(Report, FoldersInAnyOrderGiveTheSameReport) {
  Write("walk.yaml", kSweep);
  ASSERT_EQ(0, Run("run walk.yaml --quiet --out one --set experiment=one").exit);
  ASSERT_EQ(0, Run("run walk.yaml --quiet --out two --set experiment=two --set learner.options.horizon=32").exit);
  ASSERT_EQ(0, Run("report one two --to a").exit);
  ASSERT_EQ(0, Run("report two one --to b").exit);
  for (const char* name : {"parallel_efficiency_report.txt", "parallel_efficiency_report.html",
                           "parallel_efficiency_results.json", "parallel_efficiency_results.csv"}) {
    EXPECT_EQ(Dateless(Text(dir_ / "a" / name)), Dateless(Text(dir_ / "b" / name))) << name;
  }
}

TEST_F(Report, FailuresAreRowsWithReasons) {
  Write("mixed.yaml", kFailing);
  const Finished run = Run("run mixed.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins");
  EXPECT_EQ(3, run.exit) << run.err;
  const std::string text = Text(Folder("mixed") / "comparison_report.md");
  EXPECT_THAT(text, HasSubstr("crash"));
  EXPECT_THAT(text, HasSubstr("signal"));
  EXPECT_THAT(text, HasSubstr("INFEASIBLE"));
  EXPECT_THAT(Text(Folder("mixed") / "selected.yaml"), HasSubstr("how: not"));
  for (const char* name : {"curves.png", "table.png"}) EXPECT_EQ("\x89PNG", Text(Folder("mixed") / name).substr(0, 4)) << name;
  EXPECT_FALSE(std::filesystem::exists(Folder("mixed") / "returns.png")) << "a curve would have only one point";
  EXPECT_THAT(text, HasSubstr("returns"));
  const std::string coloured = Run("report outputs/mixed --color always").out, plain = Run("report outputs/mixed").out;
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;31mFAILED\x1b[0m"));
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_EQ(Dateless(plain), Dateless(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), "")))
      << "the same except for the colours";
}

TEST_F(Report, MistakesInItsKeysAreReportedWithAllOthersAtTheirEntry) {
  const std::string sweep = kSweep;
  Write("walk.yaml", sweep.substr(0, sweep.find("report:")) +
                         "report:\n"
                         "  kind: comparison\n"
                         "  columns:\n"
                         "    - SPS\n"
                         "    - SPS +\n"
                         "  figures: [{pie: {file: a.png}}]\n"
                         "budgets: {iterations: 1}\n");
  const std::ptrdiff_t line = std::count(kSweep, kSweep + sweep.find("report:"), '\n') + 1;  // of `report:`
  const auto at = [&](std::ptrdiff_t below, int column) {
    return "walk.yaml:" + std::to_string(line + below) + ":" + std::to_string(column) + ": error: ";
  };
  const Finished run = Run("run walk.yaml");
  EXPECT_EQ(2, run.exit);
  EXPECT_THAT(run.err, HasSubstr(at(4, 7) + "report.columns: entry 2: 'SPS +', column 6"));
  EXPECT_THAT(run.err, HasSubstr(at(5, 13) + "report.figures: entry 1: expected scatter, curves, bars or table"));
  EXPECT_THAT(run.err, HasSubstr(at(6, 1) + "unknown key 'budgets'"));
  EXPECT_THAT(run.err, HasSubstr("3 errors in walk.yaml; nothing was started"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
}

TEST_F(Report, UsesTheFilesReportFolder) {
  Write("walk.yaml", std::string(kSweep) + "output: {report_dir: analysis/here}\n");
  ASSERT_EQ(0, Run("run walk.yaml --quiet").exit);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "analysis" / "here" / "parallel_efficiency_report.html"));
}

TEST_F(Report, RejectsAFolderWithoutResults) {
  std::filesystem::create_directories(dir_ / "empty");
  const Finished report = Run("report empty");
  EXPECT_EQ(2, report.exit);
  EXPECT_THAT(report.err, HasSubstr("empty: expected a results folder"));
}

// Points with different learners, and a baseline among them: a change tried at one point does not exclude it for others.
constexpr char kPoints[] = R"(
experiment: points
env: {plugin: cartpole}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
budget: {iterations: 20}
monitors: []
sweep:
  list:
    - {name: floor, learner: {plugin: random, options: {horizon: 64}}}
    - {name: slow one, learner: {plugin: ppo, options: {train_batch_size: 512, num_epochs: 40}}}
report: {kind: comparison, baseline: floor}
)";

TEST_F(Report, ProposedCommandsRunAsPrinted) {
  if (kSanitized) GTEST_SKIP() << "speeds there depend on the sanitizer";
  Write("points.yaml", kPoints);
  const Finished run = Run("run points.yaml");
  ASSERT_EQ(0, run.exit) << run.err;
  std::smatch change;
  const std::regex printed(R"(try \S+ (run points.yaml --sweep 'slow one:learner\.\S*\.([a-z_]+=[^ ']+)')\n)");
  ASSERT_TRUE(std::regex_search(run.out, change, printed)) << run.out;
  const Finished tried = Run(change[1].str() + " --dry-run");
  EXPECT_EQ(0, tried.exit) << tried.err;
  for (const std::string& name : {std::string("floor"), std::string("slow one"), "slow one " + change[2].str()})
    EXPECT_THAT(tried.out, HasSubstr(name));
}

TEST_F(Report, ACrashOfTheReportProgramLosesOnlyTheReport) {
  Write("walk.yaml", kSweep);
  const Finished run = RunBesideReportProgram("kill -SEGV $$", "run walk.yaml");
  EXPECT_EQ(0, run.exit) << run.err;
  EXPECT_THAT(run.err, HasSubstr("no report was written: backplane-report was ended by: Segmentation fault\n"
                                 "  later: bin/backplane report outputs/walk\n"));
  EXPECT_THAT(run.out, HasSubstr("walk: 4 COMPLETED"));
  EXPECT_FALSE(std::filesystem::exists(Folder("walk")));
  const Finished later = Run("report outputs/walk");
  EXPECT_EQ(0, later.exit) << later.err;
  EXPECT_TRUE(std::filesystem::exists(Folder("walk") / "parallel_efficiency_report.html"));
}

TEST_F(Report, ABatchThatFailedKeepsItsExitCodeWithoutAReport) {
  Write("mixed.yaml", kFailing);
  const Finished run =
      RunBesideReportProgram("kill -KILL $$", "run mixed.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins");
  EXPECT_EQ(3, run.exit) << run.err;
  EXPECT_THAT(run.err, HasSubstr("note: `report:` was not checked: backplane-report was ended by: Killed"));
  EXPECT_THAT(run.err, HasSubstr("no report was written: backplane-report was ended by: Killed"));
  const Finished report = RunBesideReportProgram("kill -KILL $$", "report outputs/mixed");
  EXPECT_EQ(1, report.exit);
  EXPECT_EQ("backplane: backplane-report was ended by: Killed\n", report.err);
}

TEST_F(Report, FindingsAreExplained) {
  const Finished explained = Run("report --explain update_bound");
  EXPECT_EQ(0, explained.exit);
  EXPECT_THAT(explained.out, HasSubstr("update"));
  const Finished unknown = Run("report --explain updat_bound");
  EXPECT_EQ(2, unknown.exit);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'update_bound'?"));
}

}  // namespace
}  // namespace backplane::end_to_end
