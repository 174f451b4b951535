#include "figures/panels.hpp"

#include <algorithm>
#include <cmath>

#include "figures/panel_parts.hpp"

namespace backplane {
namespace {

// Dashed, with its name at one end.
const json& Rule() {
  static const json kRule = {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "#777777"}};
  return kRule;
}

json LineValues(const std::vector<LineLabel>& lines) {
  json values = json::array();
  for (const LineLabel& line : lines) values.push_back({{"at", line.at}, {"label", line.label}});
  return values;
}

json Height(const PanelSize& size, const std::vector<std::string>& names) {
  return size.height * static_cast<double>(std::max<size_t>(names.size(), 1));
}

// Of means and of what they are means of: intervals, points and dots along an x axis of values.
void AddMarks(const PanelText& text, const Palette& palette, const Pick& pick, json* view) {
  json& layers = (*view)["layer"];
  layers.push_back(
      Layer({"one"}, {{"type", "point"}, {"filled", true}, {"size", 16}, {"yOffset", 7}},
            {{"x", Quantity("value", text.x)}, {"opacity", pick.Opacity(0.6)}, {"tooltip", TipOfOne(text, text.x)}}));
  layers.push_back(Layer({"mean"}, {{"type", "rule"}, {"strokeWidth", 2}},
                         {{"x", Quantity("low", text.x)}, {"x2", {{"field", "high"}}}, {"opacity", pick.Opacity(1)}}));
  json shape = palette.Shape();
  shape["legend"] = pick.Colour()["legend"];
  json points = Layer(
      {"mean"}, {{"type", "point"}, {"filled", true}, {"size", 70}},
      {{"x", Quantity("value", text.x)}, {"shape", shape}, {"opacity", pick.Opacity(1)}, {"tooltip", TipOfMean(text, text.x)}});
  pick.AddTo(&points);
  layers.push_back(std::move(points));
}

json SweepX(const SweepPanel& panel) {
  const double first = panel.ticks.empty() ? 1 : panel.ticks.front(), last = panel.ticks.empty() ? 1 : panel.ticks.back();
  json x = Quantity("x", panel.text.x);
  x["scale"] = {{"type", "log"}, {"base", 2}, {"domain", {first * 0.8, last * 1.25}}, {"nice", false}};
  x["axis"] = {{"values", panel.ticks}, {"format", "~g"}, {"grid", false}, {"labelOverlap", "greedy"}, {"labelSeparation", 8}};
  return x;
}

// Alike in all layers: what one of them leaves open is filled in by rules of its own.
json SweepY(const SweepPanel& panel, const char* field) {
  json y = Quantity(field, panel.text.y);
  y["scale"] = panel.log_y ? json{{"type", "log"}, {"base", 2}, {"nice", false}} : json{{"zero", true}};
  if (panel.y_low && panel.y_high)
    y["scale"] = {{"domain", {*panel.y_low, *panel.y_high}}, {"nice", false}};
  else if (panel.y_low)
    y["scale"]["domainMin"] = *panel.y_low;
  y["axis"] = {{"tickCount", 5}};
  if (panel.log_y) y["axis"]["format"] = "~g";
  return y;
}

// Bands and lines, with their names right of the plot.
void AddGround(const SweepPanel& panel, json* layers) {
  const auto name = [&](const json& values, const char* at) {
    layers->push_back(Labels(values, {{"type", "text"}, {"align", "left"}, {"dx", 5}, {"fontSize", 10}},
                             {{"x", {{"value", "width"}}}, {"y", SweepY(panel, at)}, {"text", {{"field", "label"}}}}));
  };
  json bands = json::array();
  for (const BandLabel& band : panel.bands)
    bands.push_back({{"low", band.low},
                     {"high", band.high},
                     {"middle", (band.low + band.high) / 2},
                     {"label", band.label},
                     {"tint", bands.size() % 2 == 0 ? 0.03 : 0.1}});
  if (!bands.empty()) {
    layers->push_back(
        Labels(bands, {{"type", "rect"}, {"color", "#777777"}},
               {{"y", SweepY(panel, "low")},
                {"y2", {{"field", "high"}}},
                {"fillOpacity", {{"field", "tint"}, {"type", "quantitative"}, {"scale", nullptr}, {"legend", nullptr}}}}));
    name(bands, "middle");
  }
  if (panel.lines.empty()) return;
  layers->push_back(Labels(LineValues(panel.lines), Rule(), {{"y", SweepY(panel, "at")}}));
  name(LineValues(panel.lines), "at");
}

}  // namespace

json View(const SweepPanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  const Pick pick(text, palette);
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  json& layers = view["layer"];
  AddGround(panel, &layers);
  const json x = SweepX(panel), y = SweepY(panel, "value");
  const auto encoding = [&](const json& more) {
    json all = {{"x", x}, {"color", pick.Colour()}};
    all.update(more);
    return all;
  };
  layers.push_back(Layer({"ideal"}, {{"type", "line"}, {"strokeDash", {4, 3}}, {"color", "#777777"}, {"strokeWidth", 1}},
                         {{"x", x}, {"y", y}, {"detail", {{"field", "name"}}}}));
  layers.push_back(Layer({"ideal"}, {{"type", "text"}, {"align", "right"}, {"dx", -9}, {"fontSize", 10}},
                         {{"x", x}, {"y", y}, {"text", {{"field", "label"}}}}));
  layers.push_back(Layer({"mean"},
                         {{"type", "line"}, {"strokeWidth", 1.5}, {"clip", true}, {"invalid", "break-paths-filter-domains"}},
                         encoding({{"y", y}, {"strokeDash", palette.Dash()}, {"opacity", pick.Opacity(0.8)}})));
  layers.push_back(Layer({"one"}, {{"type", "point"}, {"filled", true}, {"size", 14}, {"clip", true}},
                         encoding({{"y", y}, {"opacity", pick.Opacity(0.55)}, {"tooltip", TipOfOne(text, text.y)}})));
  layers.push_back(Layer({"mean"}, {{"type", "rule"}, {"strokeWidth", 1.5}, {"clip", true}},
                         encoding({{"y", SweepY(panel, "low")}, {"y2", {{"field", "high"}}}, {"opacity", pick.Opacity(0.9)}})));
  json points = Layer(
      {"mean"}, {{"type", "point"}, {"filled", true}, {"size", 55}},
      encoding({{"y", y}, {"shape", palette.Shape()}, {"opacity", pick.Opacity(1)}, {"tooltip", TipOfMean(text, text.y)}}));
  pick.AddTo(&points);
  layers.push_back(std::move(points));
  return view;
}

json View(const BarPanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  const Pick pick(text, palette, /*names_on_axis=*/true);
  json view = EmptyView(text.title, panel.size.width, Height(panel.size, panel.names));
  view["encoding"] = {{"y", NameAxis(panel.names)}, {"color", pick.Colour()}};
  json& layers = view["layer"];
  json x = Quantity("value", text.x);
  if (panel.x_high) x["scale"] = {{"domain", {0, *panel.x_high}}, {"nice", false}};
  x["axis"] = {{"tickCount", 6}};
  json bars = Layer({"mean"}, {{"type", "bar"}, {"height", {{"band", 0.55}}}},
                    {{"x", x}, {"opacity", pick.Opacity(0.55)}, {"tooltip", TipOfMean(text, text.x)}});
  pick.AddTo(&bars);
  layers.push_back(std::move(bars));
  layers.push_back(Layer(
      {"one"}, {{"type", "point"}, {"filled", true}, {"size", 16}, {"yOffset", 9}},
      {{"x", x}, {"color", {{"value", "#222222"}}}, {"opacity", pick.Opacity(0.75)}, {"tooltip", TipOfOne(text, text.x)}}));
  json low = x, most = x;
  low["field"] = "low";
  most["field"] = "max";
  layers.push_back(Layer({"mean"}, {{"type", "rule"}, {"strokeWidth", 1.5}, {"clip", true}},
                         {{"x", low}, {"x2", {{"field", "high"}}}, {"color", {{"value", "#222222"}}}}));
  layers.push_back(Layer({"mean"}, {{"type", "tick"}, {"thickness", 2}, {"size", 16}, {"clip", true}},
                         {{"x", most}, {"color", {{"value", "#222222"}}}}));
  if (!panel.lines.empty()) {
    json at = x;
    at["field"] = "at";
    layers.push_back(Labels(LineValues(panel.lines), Rule(), {{"x", at}, {"y", nullptr}, {"color", {{"value", "#777777"}}}}));
    for (size_t line = 0; line < panel.lines.size();
         ++line) {  // the first one's name ends there, the next one's begins: they may be close
      const bool first = line == 0;
      json name = {
          {"type", "text"},      {"baseline", "bottom"}, {"dy", -2}, {"fontSize", 10}, {"align", first ? "right" : "left"},
          {"dx", first ? 4 : -4}};
      layers.push_back(
          Labels(LineValues({panel.lines[line]}), std::move(name),
                 {{"x", at}, {"y", {{"value", 0}}}, {"color", {{"value", "#333333"}}}, {"text", {{"field", "label"}}}}));
    }
  }
  return view;
}

json View(const RatioPanel& panel, const Palette& palette) {
  const Pick pick(panel.text, palette, /*names_on_axis=*/true);
  json view = EmptyView(panel.text.title, panel.size.width, Height(panel.size, panel.names));
  view["encoding"] = {{"y", NameAxis(panel.names)}, {"color", pick.Colour()}};
  view["encoding"]["y"]["axis"]["grid"] = true;
  json one = Labels(json::array({{{"at", 1}}}), Rule(),
                    {{"x", Quantity("at", panel.text.x)}, {"y", nullptr}, {"color", {{"value", "#777777"}}}});
  one["encoding"]["x"]["scale"] = {{"zero", false}, {"nice", false}, {"padding", 12}};  // no mark lies on a name
  view["layer"].push_back(std::move(one));
  AddMarks(panel.text, palette, pick, &view);
  return view;
}

json View(const SharePanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  json view = EmptyView(text.title, panel.size.width, Height(panel.size, panel.names));
  const Pick pick(text, palette);
  json bars = Layer({"part"}, {{"type", "bar"}, {"height", {{"band", 0.75}}}, {"stroke", "#ffffff"}, {"strokeWidth", 1}},
                    {{"y", NameAxis(panel.names)},
                     {"x", Quantity("value", text.x)},
                     {"color", pick.Colour()},
                     {"order", {{"field", "order"}, {"type", "quantitative"}}},
                     {"opacity", pick.Opacity(1)}});
  bars["encoding"]["x"].update({{"stack", "zero"}, {"scale", {{"domain", {0, 100}}, {"clamp", true}}}});
  bars["encoding"]["tooltip"] = TipOfMean(text, text.x);
  const json part = {{"field", palette.field()}, {"title", "part"}};
  bars["encoding"]["tooltip"].insert(bars["encoding"]["tooltip"].begin() + 1, part);
  pick.AddTo(&bars);
  view["layer"].push_back(std::move(bars));
  return view;
}

json View(const StackPanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  json x = Quantity("x", text.x), y = Quantity("value", text.y), colour = palette.Colour();
  x.update(
      {{"scale", {{"nice", false}, {"zero", false}}},
       {"axis", {{"tickCount", 6}, {"grid", false}, {"labelOverlap", "greedy"}, {"labelSeparation", 8}, {"labelBound", 8}}}});
  y.update({{"stack", "zero"}, {"scale", {{"domain", {0, 100}}, {"clamp", true}}}, {"axis", {{"tickCount", 5}}}});
  json areas = Layer({"stretch", "end"}, {{"type", "area"}, {"interpolate", "step-after"}, {"opacity", 1}},
                     {{"x", x}, {"y", y}, {"color", colour}, {"order", {{"field", "place"}, {"type", "quantitative"}}}});
  json& transform = areas["transform"];
  transform.push_back({{"fold", palette.names()}, {"as", {palette.field(), "value"}}});
  transform.push_back(
      {{"calculate", "indexof(" + json(palette.names()).dump() + ", datum." + palette.field() + ")"}, {"as", "place"}});
  view["layer"].push_back(std::move(areas));
  // What nobody sees, and a pointer finds: a stretch with all that it is made of.
  json tip = Layer({"stretch"}, {{"type", "rect"}, {"opacity", 0}}, {{"x", x}, {"x2", {{"field", "x2"}}}});
  tip["encoding"]["tooltip"] = json::array({{{"field", "name"}, {"title", text.thing}},
                                            {{"field", "x"}, {"title", "from"}, {"type", "quantitative"}, {"format", ",.4~r"}},
                                            {{"field", "x2"}, {"title", "to"}, {"type", "quantitative"}, {"format", ",.4~r"}}});
  for (const std::string& name : palette.names())
    tip["encoding"]["tooltip"].push_back({{"field", name}, {"title", name}, {"type", "quantitative"}, {"format", ".1f"}});
  tip["encoding"]["tooltip"].push_back({{"field", "trials"}, {"title", "trial"}});
  view["layer"].push_back(std::move(tip));
  return view;
}

json View(const ScatterPanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  const Pick pick(text, palette);
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  const auto at = [](const char* field, const std::string& title) {
    json where = Quantity(field, title);
    where["scale"] = {{"zero", false}, {"padding", 12}};
    return where;
  };
  view["encoding"] = {{"x", at("x", text.x)}, {"color", pick.Colour()}, {"opacity", pick.Opacity(1)}};
  json& layers = view["layer"];
  const json y = at("value", text.y);
  layers.push_back(Layer({"mean", "hollow"}, {{"type", "rule"}, {"strokeWidth", 1.5}},
                         {{"y", at("low", text.y)}, {"y2", {{"field", "high"}}}}));
  layers.push_back(Layer({"one"}, {{"type", "point"}, {"filled", true}, {"size", 16}},
                         {{"y", y}, {"tooltip", TipOfOne(text, text.y)}, {"opacity", pick.Opacity(0.55)}}));
  for (const char* kind : {"hollow", "mean"}) {
    json points = Layer({kind}, {{"type", "point"}, {"filled", std::string(kind) == "mean"}, {"size", 90}},
                        {{"y", y}, {"shape", palette.Shape()}, {"tooltip", TipOfMean(text, text.y)}});
    points["encoding"]["tooltip"].push_back({{"field", "x"}, {"title", text.x}, {"type", "quantitative"}, {"format", ",.4~r"}});
    layers.push_back(std::move(points));
  }
  pick.AddTo(&layers.back());
  return view;
}

json View(const CurvePanel& panel, const Palette& points) {
  const Palette palette = points.OfLines(), dashes = panel.dashes.value_or(points).OfLines();
  Anchors own = {{"dash_series", dashes.field()},
                 {"dash_names", dashes.names()},
                 {"dashes", dashes.Dashes()},
                 {"dash_legend", dashes.Legend()}};
  if (!panel.smooths) own["smooth_value"] = own["smooth_band"] = json::array();
  return FillChart("curves", own, SharedAnchors(panel.text, panel.size, palette));
}

json Smoothing() { return FillChart("smoothing"); }

json View(const PairPanel& panel, const Palette& palette) {
  return FillChart("pairs", {{"row_names", panel.names}},
                   SharedAnchors(panel.text, panel.size, palette, /*names_on_axis=*/true));
}

}  // namespace backplane
