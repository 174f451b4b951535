#include "render/write_report.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "sample_document.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class WriteReportTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_.parent_path()); }

  static void Put(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  bool Has(const std::string& name) const { return fs::exists(folder_ / name); }
  std::string ErrorOf(const Document& document) const {
    try {
      WriteReport(document, folder_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("write_report_" + std::to_string(getpid())) / "report";
};

TEST_F(WriteReportTest, AllFilesAreRenderingsOfTheDocument) {
  const WrittenReport report = WriteReport(SmallDocument(), folder_);
  const Document document = SmallDocument();
  EXPECT_EQ(ToJson(document), nlohmann::json::parse(ReadFile(folder_ / "small_results.json").value()));
  const Drawings drawings = DrawFigures(document.figures, folder_.parent_path() / "again");
  Page page{folder_, {}};
  for (const fs::path& file : report.files) page.files.emplace_back("", file);
  EXPECT_TRUE(RenderHtml(document, drawings, page) == ReadFile(folder_ / "small_report.html"));
  EXPECT_EQ(RenderText(document, drawings), ReadFile(folder_ / "small_report.txt"));
  EXPECT_EQ(RenderMarkdown(document, drawings), ReadFile(folder_ / "small_report.md"));
  EXPECT_EQ(RenderCsv(std::get<Table>(document.sections[0].blocks[0])), ReadFile(folder_ / "small_results.csv"));
  EXPECT_EQ("base: small.yaml\n", ReadFile(folder_ / "recommended_balanced.yaml"));
  EXPECT_TRUE(Has("figures/speed.vl.json") && Has("figures/speed.svg") && Has("speed.png"));
  EXPECT_TRUE(report.notes.empty());
  EXPECT_EQ(folder_ / "small_report.html", report.files.at(0)) << "the file that a person opens first";
  for (const fs::path& file : report.files) {
    EXPECT_TRUE(fs::exists(file)) << file;
  }
}

TEST_F(WriteReportTest, RemovesOnlyFilesThatTheNextReportLacks) {
  WriteReport(SmallDocument(), folder_);
  Put(folder_ / "my_notes.yaml", "mine");
  Put(folder_ / "figures/my_figure.svg", "mine");
  Document next = SmallDocument();
  next.figures.clear();
  next.attachments = {{"recommended_throughput.yaml", "base: small.yaml\n"}};
  const WrittenReport report = WriteReport(next, folder_);
  EXPECT_FALSE(Has("speed.png") || Has("figures/speed.vl.json") || Has("figures/speed.svg") ||
               Has("recommended_balanced.yaml"));
  EXPECT_TRUE(Has("recommended_throughput.yaml") && Has("small_report.html"));
  EXPECT_TRUE(Has("my_notes.yaml") && Has("figures/my_figure.svg"));
}

TEST_F(WriteReportTest, AFileThatAPersonHasChangedStays) {
  WriteReport(SmallDocument(), folder_);
  Put(folder_ / "recommended_balanced.yaml", "my own changes");
  Document next = SmallDocument();
  next.attachments.clear();
  WriteReport(next, folder_);
  EXPECT_EQ("my own changes", ReadFile(folder_ / "recommended_balanced.yaml"));
}

TEST_F(WriteReportTest, KeepsTheFilesOfAReportWithADifferentName) {
  WriteReport(SmallDocument(), folder_);
  Document other = SmallDocument();
  other.name = "other";
  other.figures.clear();
  other.attachments.clear();
  WriteReport(other, folder_);
  EXPECT_TRUE(Has("small_report.html") && Has("recommended_balanced.yaml") && Has("other_report.html"));
}

TEST_F(WriteReportTest, TheListOfFilesReachesNothingOutside) {
  WriteReport(SmallDocument(), folder_);
  const fs::path outside = folder_.parent_path() / "outside";
  Put(outside, "text");
  const std::string list = ReadFile(folder_ / ".small_report.sha256").value();
  Put(folder_ / ".small_report.sha256",
      list + Sha256("text") + "  ../outside\n" + Sha256("text") + "  " + outside.string() + "\n");
  WriteReport(SmallDocument(), folder_);
  EXPECT_TRUE(fs::exists(outside));
}

TEST_F(WriteReportTest, WithoutTheWheelItLacksOnlyFiguresAndReportsTheRemedy) {
  setenv("BACKPLANE_PYTHON", "/nowhere/python", 1);
  const WrittenReport report = WriteReport(LargeDocument(3), folder_);
  unsetenv("BACKPLANE_PYTHON");
  EXPECT_THAT(report.notes, testing::ElementsAre(testing::StartsWith("no figures: Python was not started"))) << "one for all";
  EXPECT_FALSE(Has("parallel_efficiency_analysis.png"));
  EXPECT_TRUE(Has("figures/parallel_efficiency_analysis.vl.json"));
  const std::string name = "parallel_efficiency_report.";
  const std::string page = ReadFile(folder_ / (name + "md")).value(), text = ReadFile(folder_ / (name + "txt")).value(),
                    html = ReadFile(folder_ / (name + "html")).value();
  EXPECT_THAT(page, Not(HasSubstr("](parallel_efficiency_analysis.png)")));
  for (const std::string& form : {page, text, html}) EXPECT_THAT(form, HasSubstr("Python was not started"));
  EXPECT_THAT(html, Not(HasSubstr("vegaEmbed=")));
}

TEST_F(WriteReportTest, BytesThatAreNotUtf8CostNoReport) {
  Document document = SmallDocument();
  document.title = "caf\xe9";
  WriteReport(document, folder_);
  EXPECT_THAT(ReadFile(folder_ / "small_report.txt").value(), HasSubstr("caf\xef\xbf\xbd"));
}

TEST_F(WriteReportTest, RejectsNamesThatAreNoFileNamesBeforeWriting) {
  Document document = SmallDocument();
  document.name = "../small";
  EXPECT_EQ("report: name of the report: expected a file name without folders, got '../small'", ErrorOf(document));
  document = SmallDocument();
  document.attachments[0].name = "a/b.yaml";
  EXPECT_THAT(ErrorOf(document), HasSubstr("report: name of a file of the report: expected"));
  document = SmallDocument();
  document.main_table = "nowhere";
  EXPECT_EQ("report: no section holds the main table 'nowhere'", ErrorOf(document));
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace backplane
