#include "kinds/build_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "report_parts.hpp"
#include "support/result_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using test_support::BlocksOf;
using test_support::Contains;
using test_support::TableOf;

// Two experiments with the same name and different columns, in folders without a trial.
class BuildReport : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "0");
    Put("a", "[SPS]");
    Put("b", "[wall_s]");
  }
  void TearDown() override { fs::remove_all(root_); }

  void Put(const std::string& name, const std::string& columns) const {
    fs::create_directories(root_ / name);
    std::ofstream(root_ / name / "plan.jsonl").flush();
    std::ofstream(root_ / name / "run.json") << R"({"schema": 1})";
    std::ofstream(root_ / name / "config.yaml") << "experiment: walk\nreport: {kind: comparison, columns: " << columns << "}\n";
  }
  Document ReportOf(const std::vector<fs::path>& folders) const {
    ReportRequest request;
    request.folders.assign(folders.begin(), folders.end());
    request.to = root_ / "report";
    request.program = "backplane";
    return MakeReport(request).document;
  }
  static std::string FirstColumn(const Document& document) { return TableOf(document, "results").columns.at(1).key; }

  const fs::path root_ = fs::path(::testing::TempDir()) / ("build_report_" + std::to_string(getpid()));
};

TEST_F(BuildReport, TheSpellingOfPathsDoesNotChangeThePrecedenceOfKeys) {
  const std::string plain = FirstColumn(ReportOf({root_ / "a", root_ / "b"}));
  EXPECT_EQ(plain, FirstColumn(ReportOf({root_ / "a", root_ / "0" / ".." / "b"})));
  EXPECT_EQ(plain, FirstColumn(ReportOf({root_ / "b", root_ / "0" / ".." / "a"})));
}

TEST(BuildReportOfAStoppedRun, FirstReportsFinishedTrialsAndTheCommandToResume) {
  ResultFolder results("stopped");
  for (const char* id : {"t1", "t2", "t3"}) results.Plan(id, id, nlohmann::json::object());
  {
    EventLog log(ResultsFolder{results.out()}.events());
    log.Append(SessionStart{});
  }
  results.Start("t1");
  results.WriteAttempt("t1", "result.json", R"({"state":"COMPLETED","sps":1000})");
  results.End("t1", "COMPLETED", "ok");
  results.Start("t2");
  results.WriteAttempt("t2", "metrics.jsonl", "{\"iteration\":7,\"step\":70,\"return\":{\"mean\":3,\"n\":1}}\n");
  results.End("t2", "PLANNED", "killed");
  ReportRequest request;
  request.folders = {results.out()};
  request.to = results.out() / "report";
  request.program = "backplane";
  request.form = "page";
  EXPECT_TRUE(Contains(MakeReport(request).document.verdict.at(0), "Not finished: 1 of 3 trials is finished")) << "killed";
  EventLog(ResultsFolder{results.out()}.events()).Append(SessionEnd{"interrupted"});
  const std::vector<std::string> verdict = MakeReport(request).document.verdict;
  EXPECT_TRUE(verdict.at(0).starts_with(
      "Stopped before the end: 1 of 3 trials is finished, 1 has begun (iteration 7), 1 has not started. So far: "
      "no comparison: only t1 has all its scores (SPS 1,000 1/s); not considered: t2 (1 of 1 runs did not finish), t3 (1 of "
      "1 "
      "runs did not "
      "finish)."))
      << verdict.at(0);
  EXPECT_EQ("To resume: backplane run " + results.out().string(), verdict.at(1));
}

// Bars of speeds for this many points.
Document BarsOf(size_t points) {
  ResultFolder results("bars");
  results.Write("config.yaml",
                "experiment: walk\nreport: {kind: comparison, figures: [{bars: {file: speeds.png, y: [SPS]}}]}\n");
  for (size_t i = 0; i < points; ++i) {
    const std::string id = "t" + std::to_string(i);
    results.Plan(id, id, nlohmann::json::object());
    results.Start(id);
    results.WriteAttempt(id, "result.json", R"({"state":"COMPLETED","sps":1000})");
    results.End(id, "COMPLETED", "ok");
  }
  ReportRequest request;
  request.folders = {results.out()};
  request.to = results.out() / "report";
  request.form = "page";
  return MakeReport(request).document;
}

TEST(BuildReportOfOnePoint, NamesTheFigureThatItLeavesOut) {
  const auto names = [](const Document& document) {
    std::string all;
    for (const Figure& figure : document.figures) all += figure.name + " ";
    for (const FigureUse& use : BlocksOf<FigureUse>(document, "results")) all += "use of " + use.name + " ";
    return all;
  };
  const Document one = BarsOf(1), two = BarsOf(2);
  EXPECT_FALSE(Contains(names(one), "speeds")) << names(one);
  EXPECT_EQ("Left out, because only one point has this value: speeds.", BlocksOf<BulletList>(one, "limits").at(0).items.back());
  EXPECT_TRUE(Contains(names(two), "use of speeds")) << names(two);
}

TEST_F(BuildReport, EachPairHasAFolderOfItsOwn) {
  Put("c", "[SPS]");
  const auto folder = [&](const char* one, const char* other) {
    return DefaultReportFolder({ReadResultSet(root_ / one), ReadResultSet(root_ / other)});
  };
  EXPECT_TRUE(Contains(folder("a", "b").string(), "outputs/a+b_"));
  EXPECT_NE(folder("a", "b"), folder("a", "c"));
  EXPECT_EQ(folder("a", "b"), folder("a", "b"));
}

TEST_F(BuildReport, AFolderThatOneOfTheFilesNamesIsTheReports) {
  std::ofstream(root_ / "b" / "config.yaml", std::ios::app) << "output: {report_dir: analysis}\n";
  EXPECT_EQ("analysis", DefaultReportFolder({ReadResultSet(root_ / "a"), ReadResultSet(root_ / "b")}));
}

TEST_F(BuildReport, ReportsThatSetsRequestDifferentReports) {
  const auto told = [](const Document& document) {
    const BulletList limits = BlocksOf<BulletList>(document, "limits").at(0);
    for (const std::string& limit : limits.items) {
      if (Contains(limit, "The experiments differ in report.columns; ")) return true;
    }
    return false;
  };
  EXPECT_TRUE(told(ReportOf({root_ / "a", root_ / "b"})));
  EXPECT_FALSE(told(ReportOf({root_ / "a"})));
}

}  // namespace
}  // namespace backplane
