// Figure specifications as data, for rows that a test makes up.
#include "figures/figure.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "figures/chart.hpp"
#include "figures/palette.hpp"
#include "figures/panels.hpp"
#include "figures/search_panels.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// Every "field" in the specification, except in a layer with values of its own.
void CollectFields(const json& spec, std::set<std::string>* fields) {
  if (spec.is_object() && spec.contains("data")) return;
  for (const auto& [key, value] : spec.items()) {
    if (key == "field" && value.is_string()) fields->insert(value.get<std::string>());
    if (value.is_structured()) CollectFields(value, fields);
  }
}
std::set<std::string> FieldsOf(const json& spec) {
  std::set<std::string> fields;
  CollectFields(spec, &fields);
  return fields;
}

TEST(Figure, ASpecificationHoldsItsDataAndItsPanels) {
  Figure figure{.name = "a", .title = "T", .alt = "says it", .columns = 2};
  figure.rows = json::parse(R"([{"panel": "P", "kind": "part", "name": "1 x 1", "value": 40}])");
  figure.panels.push_back(
      View(SharePanel{{"P", "%", "", "setting"}, {}, {"1 x 1"}}, Palette("group", {"update"}, {"#D55E00"})));
  const json spec = Specification(figure);
  EXPECT_EQ("https://vega.github.io/schema/vega-lite/v6.json", spec["$schema"]);
  EXPECT_EQ(figure.rows, spec["data"]["values"]);
  EXPECT_EQ(2, spec["columns"]);
  ASSERT_EQ(1u, spec["concat"].size());
  EXPECT_EQ(R"({"filter":{"equal":"P","field":"panel"}})"_json, spec["concat"][0]["transform"][0]);
  EXPECT_EQ("a", ToJson(figure)["name"]);
  EXPECT_EQ(spec, ToJson(figure)["specification"]);
}

TEST(Figure, NumbersThatAreNotFiniteAreNull) {
  json row;
  PutNumber({.value = NAN, .n = 2, .of = "seeds", .low = -INFINITY, .high = 3}, 4, &row);
  EXPECT_TRUE(row["value"].is_null() && row["low"].is_null());
  EXPECT_EQ(3, row["high"]);
  PutNumber({.value = 1950, .n = 3, .of = "seeds", .low = 1918.5, .high = 1981.5}, 4, &row);
  EXPECT_EQ("1,950 ± 32", row["shown"]);
  EXPECT_EQ("3 seeds", row["n"]);
}

TEST(Figure, HasOnePointIfEachPanelHasOneMean) {
  const auto of = [](const char* rows) {
    Figure figure;
    figure.rows = json::parse(rows);
    return IsOfOnePoint(figure);
  };
  EXPECT_TRUE(of(R"([{"panel": "A", "kind": "mean"}, {"panel": "A", "kind": "one"}, {"panel": "B", "kind": "mean"}])"));
  EXPECT_TRUE(of(R"([{"panel": "A", "kind": "trial"}, {"panel": "A", "kind": "best"}, {"panel": "A", "kind": "best"}])"));
  EXPECT_FALSE(of(R"([{"panel": "A", "kind": "mean"}, {"panel": "A", "kind": "mean"}, {"panel": "B", "kind": "mean"}])"));
  EXPECT_FALSE(of("[]")) << "a table has no rows of its own";
}

TEST(Palette, FortyTwoNamesDifferInColourOrShape) {
  std::vector<std::string> names;
  for (int i = 0; i < 42; ++i) names.push_back("point " + std::to_string(i));
  const Palette palette("name", names);
  const json colours = palette.Colours(), shapes = palette.Shapes();
  std::set<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < names.size(); ++i) pairs.emplace(colours[i].get<std::string>(), shapes[i].get<std::string>());
  EXPECT_EQ(42u, pairs.size());
  EXPECT_EQ("#0072B2", colours[0]) << "Okabe and Ito's blue";
  EXPECT_TRUE(Palette("name", {"alone"}).Legend().is_null());
}

// Every chart with all its parts, by the name of its file.
std::map<std::string, json> AllViews() {
  const Palette palette("series", {"one", "two"});
  const PanelText text{"T", "x", "y", "setting"};
  const std::vector<LineLabel> lines = {{80, "80 %"}, {90, "90 %"}};
  return {{"sweep", View(SweepPanel{text, {}, {1, 2}, true, 0, 4, {{0, 1, "low"}}, lines}, palette)},
          {"bars", View(BarPanel{text, {}, {"a"}, 100, lines}, palette)},
          {"ratios", View(RatioPanel{text, {}, {"a"}}, palette)},
          {"scatter", View(ScatterPanel{text, {}}, palette)},
          {"tradeoff", View(TradeOffPanel{text}, palette)},
          {"curves", View(CurvePanel{text, {}, {}}, palette)},
          {"shares", View(SharePanel{text, {}, {"a"}}, palette)},
          {"stack", View(StackPanel{text, {}}, Palette("phase", {"idle", "update"}))},
          {"pairs", View(PairPanel{text, {}, {"a"}}, palette)},
          {"trials", View(TrialsPanel{text, {}, {{"_lr", "lr"}}}, palette)},
          {"steps", View(StepsPanel{text, {}}, palette)},
          {"parallel", View(ParallelPanel{text, {}, {{"lr", {{0, "0.1"}}}}})},
          {"table", View(TablePanel{"T", {"a"}, {{"1"}}, {0}, {"note"}})},
          {"figure", Specification({.name = "f", .title = "T", .alt = "alt"})},
          {"smoothing", Smoothing()},
          {"emphasis", Emphasis()}};
}

TEST(Charts, EveryFileIsFilledToTheLastAnchor) {
  const std::map<std::string, json> views = AllViews();  // throws if an anchor and its values do not match
  for (const auto& [name, text] : ChartFiles()) {
    ASSERT_TRUE(views.contains(name)) << name << ".vl.json: add it to AllViews";
    const json file = json::parse(text), &view = views.at(name);
    EXPECT_EQ(std::string::npos, view.dump().find("\"@")) << name;
    for (const auto& [key, value] : file.items()) EXPECT_EQ(key != "parts", view.contains(key)) << name << ": " << key;
    EXPECT_EQ(file.value("layer", json()).size(), view.value("layer", json()).size()) << name << ": no field is missing";
  }
}

TEST(Charts, ShowTheRowsOfTheirPanelAndFieldsThatRowsHave) {
  const std::set<std::string> known = {"panel", "kind",  "name", "series", "trials",   "value",    "low",
                                       "high",  "shown", "n",    "of",     "x",        "x2",       "max",
                                       "order", "phase", "idle", "update", "label",    "interval", "place",
                                       "state", "said",  "axis", "_lr",    "standing", "settings", "text"};
  const std::set<std::string> without_legend = {"pairs", "parallel", "stack"};  // a legend of the others switches series
  for (const auto& [name, view] : AllViews()) {
    if (!view.contains("layer") || name == "table") continue;
    for (const std::string& field : FieldsOf(view)) EXPECT_TRUE(known.contains(field)) << name << ": " << field;
    EXPECT_EQ("T", view["transform"][0]["filter"]["equal"]) << name;
    const std::string dump = view.dump();
    EXPECT_NE(std::string::npos, dump.find("\"tooltip\":[")) << name << ": the tooltip has more fields";
    EXPECT_NE(without_legend.contains(name), dump.find("\"bind\":\"legend\"") != std::string::npos) << name;
  }
}

TEST(Charts, LeaveOutObjectsWithoutAValue) {
  const json chart = R"({
    "parts": {"axis": {"title": "@y", "tickCount": 5}},
    "params": [{"name": "@pick", "bind": "legend"}],
    "layer": [
      {"data": {"values": "@lines"}, "mark": "rule"},
      {"mark": "bar", "transform": [{"filter": "a"}, "@steps"], "encoding": {
        "x": {"field": "x", "axis": "@axis", "scale": {"domain": "@range", "nice": false}},
        "opacity": {"condition": {"param": "@pick", "value": 0.5}, "value": 0.1}}}]})"_json;
  const json steps = json::array({"b", "c"});
  EXPECT_EQ(R"({"layer": [{"mark": "bar", "transform": [{"filter": "a"}, "b", "c"], "encoding": {
                 "x": {"field": "x", "axis": {"title": "@pick", "tickCount": 5}},
                 "opacity": {"value": 0.5}}}]})"_json,
            FillAnchors(chart, {{"pick", {}}, {"lines", {}}, {"range", {}}, {"steps", steps}}, {{"y", "@pick"}, {"z", 1}}))
      << "a value is no chart: it keeps its @";
}

TEST(Charts, RejectWrongAndMissingAnchors) {
  const json chart = R"({"parts": {"axis": {"title": "@y"}}, "x": "@axis", "on": "@mark:click"})"_json;
  EXPECT_NO_THROW(FillAnchors(chart, {{"y", 1}}));
  EXPECT_THROW(FillAnchors(chart, {}), std::logic_error) << "no value";
  EXPECT_THROW(FillAnchors(chart, {{"y", 1}, {"z", 1}}), std::logic_error) << "no place";
  EXPECT_THROW(FillAnchors(R"({"parts": {"axis": 1}})"_json, {}), std::logic_error) << "a part that is not used";
  EXPECT_THROW(FillChart("bars"), std::logic_error);
}

TEST(Panels, OnlyCurvesZoomAndSmooth) {
  const Palette palette("series", {"one", "two"});
  const std::string curves = View(CurvePanel{{"T", "x", "y", ""}, {}, {}}, palette).dump();
  EXPECT_NE(std::string::npos, curves.find("\"bind\":\"scales\""));
  EXPECT_NE(std::string::npos, curves.find("smoothing == 21 ? datum.value21"));
  EXPECT_EQ(std::string::npos, View(BarPanel{{"T", "x", "", ""}, {}, {"a"}, {}, {}}, palette).dump().find("scales"));
}

TEST(TablePanel, WithoutRoomItReportsTheNumberOfOmittedRows) {
  TablePanel table{"Summary", {"setting", "speed"}, {}, {7}, {"bold: recommended"}, 4};
  for (int i = 0; i < 8; ++i) table.rows.push_back({"s" + std::to_string(i), "1"});
  const json view = View(table);
  std::vector<std::string> texts;
  for (const json& cell : view["layer"].back()["data"]["values"]) texts.push_back(cell["text"]);
  EXPECT_THAT(texts, testing::ElementsAre("setting", "speed", "s0", "1", "s1", "1", "s2", "1", "s7", "1",
                                          "and 4 more in the report", "bold: recommended"))
      << "an emphasised row is kept";
}

}  // namespace
}  // namespace backplane
