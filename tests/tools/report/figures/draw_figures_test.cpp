// Runs the real drawing program, and checks the effect of its failures.
#include "figures/draw_figures.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "base/files.hpp"
#include "base/python.hpp"
#include "figures/panels.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

Figure Bars(const std::string& name) {
  Figure figure{.name = name, .title = "Caf\xC3\xA9 <b>`rm`</b>", .alt = "bars"};
  figure.rows = json::array();
  for (const double value : {1.0, -2.5})
    figure.rows.push_back(
        {{"panel", "P"}, {"kind", "mean"}, {"name", value > 0 ? "a,\"b\"" : "환경"}, {"value", value}, {"trials", "t"}});
  figure.panels.push_back(
      View(BarPanel{{"P", "steps", "", "point"}, {}, {"a,\"b\"", "환경"}, {}, {}}, Palette("name", {"a,\"b\"", "환경"})));
  return figure;
}

class DrawFiguresTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "figuresXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    unsetenv("BACKPLANE_PYTHON");
    fs::remove_all(folder_);
  }

  // Replaces Python by a different program.
  void PretendPython(const std::string& script) {
    std::ofstream(folder_ / "python") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder_ / "python", fs::perms::owner_all);
    setenv("BACKPLANE_PYTHON", (folder_ / "python").c_str(), 1);
  }
  bool Has(const std::string& file) const { return fs::exists(folder_ / file); }

  fs::path folder_;
};

TEST_F(DrawFiguresTest, OneProcessMakesAllAndTheSameEachTime) {
  const Drawings drawings = DrawFigures({Bars("one"), Bars("two")}, folder_);
  ASSERT_TRUE(drawings.missing.empty()) << drawings.missing.begin()->second;
  for (const char* file : {"one.png", "two.png", "figures/one.svg", "figures/one.vl.json", "figures/two.svg"})
    EXPECT_TRUE(Has(file)) << file;
  const std::string png = ReadFile(folder_ / "one.png").value();
  EXPECT_EQ("\x89PNG", png.substr(0, 4));
  EXPECT_EQ("<svg", drawings.svg.at("one").substr(0, 4));
  EXPECT_THAT(drawings.svg.at("one"), HasSubstr("환경"));
  EXPECT_THAT(drawings.svg.at("one"), HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(drawings.javascript, HasSubstr("vegaEmbed"));
  EXPECT_LT(drawings.javascript.size(), 1'000'000u);
  EXPECT_EQ(Specification(Bars("one")), json::parse(ReadFile(folder_ / "figures/one.vl.json").value()));
  DrawFigures({Bars("one")}, folder_);
  EXPECT_EQ(png, ReadFile(folder_ / "one.png"));
}

// One mean from 0 to 100, with an interval up to there.
Figure Efficiency(const std::string& name, double high) {
  Figure figure{.name = name, .title = "T", .alt = "sweep"};
  figure.rows = json::array({{{"panel", "P"},
                              {"kind", "mean"},
                              {"name", "a"},
                              {"x", 1},
                              {"value", 50},
                              {"low", 40},
                              {"high", high},
                              {"trials", "t"}}});
  SweepPanel panel{{"P", "rows", "percent", "setting"}};
  panel.ticks = {1, 2};
  panel.y_low = 0, panel.y_high = 110;
  figure.panels.push_back(View(panel, Palette("name", {"a"})));
  return figure;
}

TEST_F(DrawFiguresTest, AnIntervalFarBeyondTheAxisChangesNoSize) {
  const Drawings drawings = DrawFigures({Efficiency("near", 60), Efficiency("far", 6000)}, folder_);
  ASSERT_TRUE(drawings.missing.empty()) << drawings.missing.begin()->second;
  const auto size = [&](const char* name) {
    const std::string& svg = drawings.svg.at(name);
    return svg.substr(svg.find("viewBox"), svg.find('>') - svg.find("viewBox"));
  };
  EXPECT_EQ(size("near"), size("far"));
}

TEST_F(DrawFiguresTest, AMistakeInASpecificationCostsOnlyThatFigure) {
  Figure wrong = Bars("wrong");
  wrong.panels[0]["layer"][0]["mark"] = "blob";
  const Drawings drawings = DrawFigures({wrong, Bars("good")}, folder_);
  ASSERT_TRUE(drawings.missing.contains("wrong"));
  EXPECT_THAT(drawings.missing.at("wrong"), testing::StartsWith("no wrong.png: "));
  EXPECT_TRUE(drawings.svg.contains("good") && Has("good.png"));
  EXPECT_FALSE(Has("wrong.png") || Has("figures/wrong.svg"));
  EXPECT_TRUE(Has("figures/wrong.vl.json")) << "a person can inspect it";
}

TEST_F(DrawFiguresTest, ACrashCostsTheFiguresAfterItAndLeavesNoOldPicture) {
  DrawFigures({Bars("one")}, folder_);
  ASSERT_TRUE(Has("one.png"));
  PretendPython("kill -SEGV $$");
  const Drawings drawings = DrawFigures({Bars("one")}, folder_);
  EXPECT_EQ("no one.png: the program that draws figures was ended by Segmentation fault", drawings.missing.at("one"));
  EXPECT_FALSE(Has("one.png") || Has("figures/one.svg"));
  EXPECT_TRUE(Has("figures/one.vl.json"));
}

TEST_F(DrawFiguresTest, WithoutTheWheelItReportsHowToInstallIt) {
  PretendPython(R"(echo '{"why_none": "No module named vl_convert in python3"}')");
  const Drawings drawings = DrawFigures({Bars("one")}, folder_);
  EXPECT_THAT(drawings.missing.at("one"), HasSubstr("No module named vl_convert in python3; run `"));
  EXPECT_TRUE(drawings.javascript.empty());
  setenv("BACKPLANE_PYTHON", "/nowhere/python", 1);
  EXPECT_THAT(DrawFigures({Bars("one")}, folder_).missing.at("one"), HasSubstr("Python was not started"));
}

TEST_F(DrawFiguresTest, RejectsANameThatIsNoFileName) {
  EXPECT_THROW(DrawFigures({Bars("../one")}, folder_), std::runtime_error);
}

}  // namespace
}  // namespace backplane
