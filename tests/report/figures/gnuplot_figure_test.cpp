#include "figures/gnuplot_figure.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.hpp"
#include "figures/gnuplot_process.hpp"
#include "figures/gnuplot_script.hpp"
#include "sample_figures.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

class GnuplotFigure : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(RunGnuplot({"--version"}, ".").ok) << kInstallGnuplot;
    std::string name = (fs::temp_directory_path() / "figureXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  // Width and height of a PNG; 0 0 if it is none.
  static std::pair<unsigned, unsigned> SizeOf(const std::string& png) {
    if (png.size() < 24 || png.substr(0, 8) != "\x89PNG\r\n\x1a\n") return {0, 0};
    const auto big_endian = [&](size_t at) {
      unsigned value = 0;
      for (size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(png[i]);
      return value;
    };
    return {big_endian(16), big_endian(20)};
  }

  std::string Draw(const Figure& figure) {
    EXPECT_EQ("", DrawWithGnuplot(figure, folder_));
    const std::string png = ReadFile(folder_ / (figure.name + ".png")).value_or("");
    EXPECT_EQ(std::pair(static_cast<unsigned>(figure.width), static_cast<unsigned>(figure.height)), SizeOf(png));
    return png;
  }

  // Puts another program in gnuplot's place.
  void PretendGnuplot(const std::string& script) {
    fs::create_directory(folder_ / "bin");
    std::ofstream(folder_ / "bin/gnuplot") << "#!/bin/sh\n" << script;
    fs::permissions(folder_ / "bin/gnuplot", fs::perms::owner_all);
    setenv("PATH", (folder_ / "bin").c_str(), 1);
  }

  fs::path folder_;
  const std::string path_ = getenv("PATH");
};

TEST_F(GnuplotFigure, IsTheSameEachTimeAndDrawnAgainByItsScript) {
  const Figure figure = SixPanels({4, 2});
  const std::string first = Draw(figure);
  EXPECT_EQ(first, Draw(figure));
  EXPECT_TRUE(RunGnuplot({"six.gp"}, folder_ / "figures").ok);
  EXPECT_EQ(first, ReadFile(folder_ / "figures/six.png"));
}

TEST_F(GnuplotFigure, DrawsWithoutNumbersAndWithHugeOnes) {
  for (const double scale : {1.0, kNaN, 1e250, 1e-250, -1.0}) Draw(SixPanels({2, 2, "", true, scale}));
  Draw(FourPanels({1, 1}, false));
  Figure bare{"bare", "", "", 1, 300, 200, {}};
  Draw(bare);
  bare.panels = {Panel{}, Panel{}};
  bare.panels[0].series.push_back({"empty", Series::Style::kLine, 0, {}});
  bare.panels[1].series.push_back({"zero", Series::Style::kBars, 0, {{1, 0, {}, {}, ""}, {kNaN, 2, {}, {}, "nowhere"}}});
  bare.panels[1].y.scale = Scale::kLog2;
  Draw(bare);
}

TEST_F(GnuplotFigure, TextsAreDrawnAndNotRun) {
  const std::string payload = (folder_ / "ran").string();
  for (const std::string& text :
       std::vector<std::string>{"`touch " + payload + "`", "$(touch " + payload + ")", "'; system('touch " + payload + "') #",
                                "\\'.system('touch " + payload + "').'", "@m \\", "x\nsystem('touch " + payload + "')\n",
                                "'`touch " + payload + "`'", "\"`touch " + payload + "`", kAwkward, "환경 \xFF"}) {
    Figure figure = SixPanels({2, 2, text});
    figure.title = figure.alt = text;
    for (Panel& panel : figure.panels) {
      panel.title = panel.x.label = panel.y.label = panel.note = text;
      panel.lines.push_back({1, text});
      if (panel.table) panel.table->note = text;
      for (Series& series : panel.series) series.marks[0].label = text;
    }
    Draw(figure);
    EXPECT_FALSE(fs::exists(payload)) << text;
  }
}

TEST_F(GnuplotFigure, TextsAreConstants) {
  EXPECT_EQ("'it''s `a` \"b\" \\'", GnuplotQuoted("it's `a` \"b\" \\"));
  EXPECT_EQ("'two lines'", GnuplotQuoted("two\nlines"));
}

TEST_F(GnuplotFigure, NamesAreFileNames) {
  Figure figure = FourPanels({1, 1}, true);
  for (const char* name : {"|touch ran", "<it's", "-e", "%d `id`"}) {
    figure.name = name;
    Draw(figure);
    EXPECT_FALSE(fs::exists(folder_ / "figures/ran"));
  }
  for (const char* name : {"", "..", "a/b", "a\nb"}) {
    figure.name = name;
    EXPECT_THROW(DrawWithGnuplot(figure, folder_), std::runtime_error) << name;
  }
}

TEST_F(GnuplotFigure, CsvHoldsEveryMark) {
  Figure figure{"csv", "", "", 1, 300, 200, {}};
  figure.panels.emplace_back().title = "a \"b\", c";
  figure.panels[0].x.categories = {"one", "two"};
  figure.panels[0].series = {{"s", Series::Style::kBars, 0, {{0, 0.1, 0.05, 1e21, ""}, {1, kNaN, {}, {}, "failed\n"}}}};
  EXPECT_EQ(
      "panel,series,x,y,low,high,panel_title,series_title,x_name,label\n"
      "1,1,0,0.1,0.05,1e+21,\"a \"\"b\"\", c\",\"s\",\"one\",\"\"\n"
      "1,1,1,NaN,NaN,NaN,\"a \"\"b\"\", c\",\"s\",\"two\",\"failed \"\n",
      GnuplotCsv(figure));
}

TEST_F(GnuplotFigure, WithoutGnuplotScriptAndCsvAreThereAndNoOldPicture) {
  const Figure figure = FourPanels({1, 1}, true);
  Draw(figure);
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(std::string("no four.png: gnuplot was not found; ") + kInstallGnuplot, DrawWithGnuplot(figure, folder_));
  EXPECT_FALSE(fs::exists(folder_ / "four.png"));
  EXPECT_TRUE(fs::exists(folder_ / "figures/four.gp"));
  EXPECT_TRUE(fs::exists(folder_ / "figures/four.csv"));
}

TEST_F(GnuplotFigure, AFailingGnuplotIsQuoted) {
  const Figure figure = FourPanels({1, 1}, true);
  PretendGnuplot(
      "echo half > four.png; echo 'plot x' >&2; echo '     ^' >&2; echo '\"four.gp\" line 9: it broke' >&2; exit 1\n");
  EXPECT_EQ("no four.png: gnuplot failed: \"four.gp\" line 9: it broke", DrawWithGnuplot(figure, folder_));
  PretendGnuplot(": > four.png\n");
  EXPECT_EQ("no four.png: gnuplot failed: it said nothing", DrawWithGnuplot(figure, folder_));
  EXPECT_FALSE(fs::exists(folder_ / "four.png"));
  EXPECT_FALSE(fs::exists(folder_ / "figures/four.png"));
}

}  // namespace
}  // namespace backplane
