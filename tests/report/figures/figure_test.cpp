#include "figures/figure.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "figures/axis_frame.hpp"
#include "figures/figure_layout.hpp"
#include "figures/figure_text.hpp"
#include "sample_figures.hpp"

namespace backplane {
namespace {

std::string Ticks(const Axis& axis, const std::vector<double>& values, const RangeRule& rule, int most) {
  std::string all;
  for (const Tick& tick : TicksOf(FrameOf(axis, values, rule), most)) all += (all.empty() ? "" : " ") + tick.text;
  return all;
}

TEST(Figure, AsJsonHasItsNumbersAndWords) {
  Figure figure = SixPanels({4, 2, kAwkward, true, 1});
  figure.panels.push_back(FourPanels({1, 1}, false).panels[2]);
  const nlohmann::json panels = nlohmann::json::parse(ToJson(figure).dump())["panels"];
  EXPECT_TRUE(panels[0]["series"][0]["marks"][3]["y"].is_null()) << "JSON has no NaN";
  EXPECT_EQ("log2", panels[1]["x"]["scale"]);
  EXPECT_EQ(kAwkward + "1x1", panels[4]["x"]["categories"][0]);
  EXPECT_EQ(105, panels[6]["y"]["high"]);
  EXPECT_EQ(figure.panels[5].table->rows, panels[5]["table"]["rows"]);
}

TEST(AxisFrame, TicksAreRoundNumbers) {
  const RangeRule from_zero{.from_zero = true};
  EXPECT_EQ("0 500 1,000 1,500", Ticks({}, {100, 1500}, from_zero, 5));
  EXPECT_EQ("-60 -40 -20 0 20 40", Ticks({}, {-58, 41}, from_zero, 6));
  EXPECT_EQ("0 0.002 0.004 0.006", Ticks({}, {0.0061}, from_zero, 4));
  EXPECT_EQ("0 1×10¹² 2×10¹²", Ticks({}, {2.4e12}, from_zero, 3));
  EXPECT_EQ("1 2 4 8 16", Ticks({"", Scale::kLog2}, {1, 16}, {}, 8));
  EXPECT_EQ("0.5 1 2", Ticks({"", Scale::kLog2}, {1}, {}, 8));
  EXPECT_EQ("0.1 1 10 100", Ticks({"", Scale::kLog10}, {0.1, 200}, {}, 8));
}

TEST(FigureLayout, AnIntervalBelowZeroDoesNotMoveTheAxisOfValuesThatAreNot) {
  Figure figure;
  Panel panel;
  panel.x.categories = {"a", "b"};
  panel.series = {{"", Series::Style::kBars, 0, {{0, 0.0002, -0.0004, 0.0008, ""}, {1, 0.2, 0.19, 0.21, ""}}}};
  figure.panels = {panel};
  EXPECT_EQ(0, LayOut(figure).panels[0].y.low);
  figure.panels[0].series[0].marks[0] = {0, -0.01, -0.02, 0, ""};
  EXPECT_LT(LayOut(figure).panels[0].y.low, -0.02);
}

TEST(AxisFrame, HoldsAnyNumbers) {
  for (const std::vector<double>& values : std::vector<std::vector<double>>{{},
                                                                            {0},
                                                                            {-3},
                                                                            {kNaN},
                                                                            {HUGE_VAL, 1},
                                                                            {-HUGE_VAL, HUGE_VAL},
                                                                            {1e308, -1e308},
                                                                            {5e-324},
                                                                            {1e9, 1e9 + 1e-6},
                                                                            {-1e-200, 1e200},
                                                                            {1e12},
                                                                            {-1500, -1420}}) {
    for (const Scale scale : {Scale::kLinear, Scale::kLog2, Scale::kLog10}) {
      const AxisFrame frame = FrameOf({"", scale}, values, {.from_zero = true});
      ASSERT_LT(frame.low, frame.high);
      ASSERT_TRUE(std::isfinite(frame.high - frame.low));
      const std::vector<Tick> ticks = TicksOf(frame, 6);
      EXPECT_GE(ticks.size(), 2u);
      EXPECT_LE(ticks.size(), 8u);
      for (const double value : values) EXPECT_TRUE(!frame.CanShow(value) || frame.Shows(value)) << value;
    }
  }
}

TEST(FigureText, IsOneLineOfUtf8) {
  EXPECT_EQ("a b c", OneLine("a\nb\tc"));
  EXPECT_EQ("\xEF\xBF\xBDx\xEF\xBF\xBD", OneLine("\xFFx\xC3"));
  EXPECT_EQ("é 환 😀", OneLine("é 환 😀"));
  EXPECT_EQ("é □ …", DejaVuText("é 환 …"));
  EXPECT_EQ("ab…yz", Shorten("abcdefghijklmnopqrstuvwxyz", TextWidth("ab…yz") + 0.01));
  EXPECT_EQ("-12,345.50", GroupedNumber(-12345.5, 2));
  EXPECT_EQ("0.0", GroupedNumber(-0.01, 1));
}

TEST(FigureText, NamesBesideEachOtherKeepTheWordsInWhichTheyDiffer) {
  const std::vector<std::string> names = {"envs=8 lr=0.1 seed=2", "envs=16 lr=0.1 seed=2", "envs=16 lr=0.1 seed=3"};
  EXPECT_EQ(names, ShortenNames(names, 100)) << "there is room";
  EXPECT_THAT(ShortenNames(names, 8), testing::ElementsAre("…8…2", "…16…2", "…16…3"));
  const std::vector<std::string> unlike = ShortenNames({"one_long_name_of_five_words", "another_name_of_words"}, 5);
  EXPECT_EQ(Shorten("one_long_name_of_five_words", 5), unlike[0]);
  EXPECT_EQ(Shorten("another_name_of_words", 5), unlike[1]);
  EXPECT_THAT(ShortenNames({"alone_of_its_kind"}, 5), testing::ElementsAre(Shorten("alone_of_its_kind", 5)));
}

TEST(FigureLayout, NoTextMeetsAnother) {
  for (const Figure& figure :
       {SixPanels({4, 2}), SixPanels({8, 3, std::string(60, 'n'), true, 1e9}), FourPanels({8, 3}, true)}) {
    const FigureLayout layout = LayOut(figure);
    for (const PanelLayout& panel : layout.panels) {
      std::vector<Box> boxes;
      for (const TextLayout& text : panel.texts) {
        if (text.angle != 0) continue;
        const double width = TextWidth(text.text) * text.size * layout.em, half = 0.4 * text.size * layout.em;
        const double left = text.x - (text.align == Align::kLeft ? 0 : text.align == Align::kCentre ? width / 2 : width);
        const Box box = {left, text.y - half, left + width, text.y + half};
        EXPECT_GE(box.left, 0) << text.text;
        EXPECT_LE(box.right, figure.width) << text.text;
        for (const Box& other : boxes) EXPECT_FALSE(box.Meets(other)) << text.text;
        boxes.push_back(box);
      }
    }
  }
}

TEST(FigureLayout, ATableWithoutRoomSaysHowManyRowsAreLeftOut) {
  Figure figure = SixPanels({8, 8});
  figure.panels[5].table->emphasised = {63};
  std::vector<std::string> texts;
  const FigureLayout layout = LayOut(figure);
  for (const TextLayout& text : layout.panels[5].texts) texts.push_back(text.text);
  const auto shown =
      std::count_if(figure.panels[5].table->rows.begin(), figure.panels[5].table->rows.end(),
                    [&](const auto& row) { return std::find(texts.begin(), texts.end(), row[0]) != texts.end(); });
  EXPECT_LT(shown, 64);
  EXPECT_NE(texts.end(), std::find(texts.begin(), texts.end(), "and " + std::to_string(64 - shown) + " more in the report"));
  EXPECT_NE(texts.end(), std::find(texts.begin(), texts.end(), figure.panels[5].table->rows[63][0]))
      << "an emphasised row stays";
}

}  // namespace
}  // namespace backplane
