#include "figures/svg_figure.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "figures/figure_layout.hpp"
#include "figures/gnuplot_script.hpp"
#include "sample_figures.hpp"

namespace backplane {
namespace {

// True if an XML parser that is not ours reads it.
bool IsWellFormed(const std::string& svg) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("figure" + std::to_string(getpid()) + ".svg");
  std::ofstream(file) << svg;
  const std::string parse = "python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' " + file.string();
  const bool read = std::system(parse.c_str()) == 0;
  std::filesystem::remove(file);
  return read;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SvgFigure, IsWellFormedWhateverItHolds) {
  for (const Figure& figure : {SixPanels({4, 2, kAwkward}), SixPanels({1, 1, "환경\n\xFF", true, kNaN}),
                               SixPanels({8, 8, "", true, 1e250}), FourPanels({8, 3}, false), Figure{}}) {
    const std::string svg = DrawSvg(figure);
    EXPECT_TRUE(IsWellFormed(svg));
    EXPECT_FALSE(Has(svg, "nan") || Has(svg, "inf\"")) << svg;
  }
  EXPECT_FALSE(IsWellFormed("<svg>"));
}

TEST(SvgFigure, ShowsMarksLinesWhiskersAndKey) {
  Figure figure{"f", "A & B", "two <points>", 1, 420, 320, {}};
  Panel& panel = figure.panels.emplace_back();
  panel.x = {"x", Scale::kLinear, 0, 10, {}};
  panel.y = {"y", Scale::kLinear, 0, 10, {}};
  panel.series = {{"s", Series::Style::kLine, 1, {{1, 2, 1.0, 3.0, ""}, {5, kNaN, {}, {}, ""}, {9, 8, {}, {}, ""}}}};
  panel.lines = {{5, "half"}};
  const std::string svg = DrawSvg(figure);
  EXPECT_TRUE(
      svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 420 320\" width=\"100%\" role=\"img\" "
                      "aria-label=\"two &lt;points&gt;\""));
  EXPECT_TRUE(Has(svg, "<title>A &amp; B</title>\n<desc>two &lt;points&gt;</desc>"));
  EXPECT_TRUE(Has(svg, "style=\"stroke: var(--series-2, #D55E00)\""));
  EXPECT_TRUE(Has(svg, ">half</text>"));
  const size_t line = svg.find("<path d=\"M", svg.find("overflow=\"hidden\""));
  const std::string path = svg.substr(line, svg.find("\" fill", line) - line);
  EXPECT_EQ(1, std::count(path.begin() + 10, path.end(), 'M')) << "NaN breaks the line: " << path;
  EXPECT_FALSE(Has(path, "L")) << path;
}

TEST(SvgFigure, PartsOfABarBeginWhereTheOneBelowEnds) {
  Figure figure{"parts", "Parts", "", 1, 1000, 800, {}};
  Panel panel;
  panel.y = {"%", Scale::kLinear, 0.0, 100.0, {}};
  panel.x.categories = {"one"};
  panel.series = {{"low", Series::Style::kParts, 0, {{0, 25, 0.0, {}, ""}}},
                  {"high", Series::Style::kParts, 1, {{0, 100, 25.0, {}, ""}}}};
  figure.panels = {panel};
  EXPECT_EQ("parts", ToJson(figure)["panels"][0]["series"][0]["style"]);
  const PanelLayout layout = LayOut(figure).panels.at(0);
  const BarSides low = SidesOf(panel, layout.x, 0), high = SidesOf(panel, layout.x, 1);
  EXPECT_EQ(low.left, high.left) << "above each other, not side by side";
  const std::string svg = DrawSvg(figure), script = GnuplotScript(figure);
  const auto drawn = [&](double from, double to) {
    const auto pixels = [&](double share) { return fmt::format("{:g}", std::round(10 * share * layout.plot.height()) / 10); };
    const double top = layout.plot.bottom / layout.plot.height() - layout.y.At(to);
    const std::string part = "<rect x=\"[0-9.]+\" y=\"" + pixels(top) + "\" width=\"[0-9.]+\" height=\"" +
                             pixels(layout.y.At(to) - layout.y.At(from)) + "\"";
    return std::regex_search(svg, std::regex(part));
  };
  EXPECT_TRUE(drawn(0, 25)) << svg;
  EXPECT_TRUE(drawn(25, 100)) << svg;
  EXPECT_NE(script.find("'low':'y' with boxxyerror"), std::string::npos) << script;
}

TEST(SvgFigure, DoesNotDependOnTheLocale) {
  const Figure figure = SixPanels({4, 2});
  const std::string plain = DrawSvg(figure);
  for (const char* locale : {"de_DE.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);
    EXPECT_EQ(plain, DrawSvg(figure));
  }
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace backplane
