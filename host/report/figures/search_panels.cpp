#include "figures/search_panels.hpp"

#include <algorithm>

#include "base/text_columns.hpp"
#include "figures/figure.hpp"
#include "figures/panel_parts.hpp"

namespace backplane {
namespace {

constexpr const char *kEmphasis = "emphasis", *kTest = "datum.standing <= emphasis";

json Fact(const std::string& field, const std::string& title) { return {{"field", field}, {"title", title}}; }

json AtPlace(const char* field, const std::string& title) {
  json y = Quantity(field, title);
  y.update({{"scale", {{"zero", false}, {"padding", 8}}}, {"axis", {{"tickCount", 6}}}});
  return y;
}

json Along(const std::string& title) {
  json x = Quantity("x", title);
  x.update(
      {{"scale", {{"nice", false}, {"padding", 8}}},
       {"axis", {{"tickCount", 6}, {"tickMinStep", 1}, {"grid", false}, {"labelOverlap", "greedy"}, {"labelSeparation", 8}}}});
  return x;
}

// Without a shift key a wheel scrolls the page.
json Zoom(const std::string& title) {
  return {{"name", "zoom" + Identifier(title)},
          {"bind", "scales"},
          {"select", {{"type", "interval"}, {"zoom", "wheel![event.shiftKey]"}}}};
}

json LegendOf(const Pick& pick, json encoding) {
  encoding["legend"] = pick.Colour()["legend"];
  return encoding;
}

}  // namespace

json View(const TrialsPanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  const Pick pick(text, palette);
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  view["name"] = "curves" + Identifier(text.title);
  view["encoding"] = {{"x", Along(text.x)}};
  json best = Layer({"best"}, {{"type", "line"}, {"interpolate", "step-after"}, {"strokeWidth", 2}, {"clip", true}},
                    {{"y", AtPlace("value", text.y)}, {"color", {{"value", "#333333"}}}});
  best["params"].push_back(Zoom(text.title));
  view["layer"].push_back(std::move(best));
  json tip = json::array({Fact("name", text.thing), Fact("state", "state"), Fact("shown", text.y)});
  for (const auto& [field, title] : panel.facts) tip.push_back(Fact(field, title));
  tip.push_back(Fact("trials", "trials"));
  json points = Layer({"trial"}, {{"type", "point"}, {"filled", true}, {"size", 60}, {"clip", true}},
                      {{"y", AtPlace("place", text.y)},
                       {"color", pick.Colour()},
                       {"shape", LegendOf(pick, palette.Shape())},
                       {"opacity", pick.Opacity(0.85)},
                       {"tooltip", tip}});
  pick.AddTo(&points);
  view["layer"].push_back(std::move(points));
  return view;
}

json View(const StepsPanel& panel, const Palette& points) {
  const PanelText& text = panel.text;
  const Palette palette = points.OfLines();
  const Pick pick(text, palette);
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  view["name"] = "curves" + Identifier(text.title);
  view["encoding"] = {{"x", Along(text.x)}, {"color", pick.Colour()}};
  const json y = AtPlace("value", text.y), detail = {{"field", "name"}};
  json lines = Layer({"step"}, {{"type", "line"}, {"strokeWidth", 1.1}, {"clip", true}},
                     {{"y", y}, {"detail", detail}, {"opacity", pick.Opacity(0.6)}});
  pick.AddTo(&lines);
  lines["params"].push_back(Zoom(text.title));
  view["layer"].push_back(std::move(lines));
  view["layer"].push_back(Layer({"best step"}, {{"type", "line"}, {"strokeWidth", 2.8}, {"clip", true}},
                                {{"y", y}, {"detail", detail}, {"opacity", pick.Opacity(1)}}));
  view["layer"].push_back(Layer({"end"}, {{"type", "point"}, {"filled", true}, {"size", 28}, {"clip", true}},
                                {{"y", y}, {"opacity", pick.Opacity(0.9)}}));
  // Points that nobody sees until the pointer comes near.
  json spots = Layer({"step", "best step"}, {{"type", "point"}, {"filled", true}, {"size", 50}, {"clip", true}},
                     {{"y", y}, {"opacity", {{"value", 0}}}});
  spots["encoding"]["tooltip"] =
      json::array({Fact("name", text.thing), Fact("state", "state"),
                   json{{"field", "x"}, {"title", text.x}, {"type", "quantitative"}, {"format", ",.6~r"}},
                   json{{"field", "value"}, {"title", text.y}, {"type", "quantitative"}, {"format", ",.4~r"}},
                   Fact("settings", "setting")});
  view["layer"].push_back(std::move(spots));
  return view;
}

json Emphasis() {
  return {{"name", kEmphasis},
          {"value", 1},
          {"bind",
           {{"input", "select"},
            {"options", {1, 0.5, 0.25, 0.1}},
            {"labels", {"all trials", "the best half", "the best quarter", "the best tenth"}},
            {"name", "show "}}}};
}

namespace {

// Pixels in which the words of neighbouring axes do not meet; titles stand at two heights.
double LeastWidth(const std::vector<ParallelAxis>& axes) {
  constexpr double kLetter = 7.4, kTickLetter = 6.2, kGap = 14;
  double pitch = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i + 2 < axes.size())
      pitch =
          std::max(pitch, (static_cast<double>(Columns(axes[i].title) + Columns(axes[i + 2].title)) * kLetter / 2 + kGap) / 2);
    for (const auto& [place, word] : axes[i].ticks)
      pitch = std::max(pitch, static_cast<double>(Columns(word)) * kTickLetter + kGap);
  }
  return pitch * static_cast<double>(axes.size());
}

}  // namespace

json View(const ParallelPanel& panel) {
  const PanelText& text = panel.text;
  const double least = LeastWidth(panel.axes);
  json view = EmptyView(text.title, std::max(panel.size.width, least), panel.size.height);
  view["name"] = "least" + std::to_string(static_cast<int>(least)) + Identifier(text.title);
  const double last = static_cast<double>(panel.axes.size()) - 1;
  json x = Quantity("x", "");
  x.update({{"scale", {{"domain", {-0.25, last + 0.25}}, {"nice", false}, {"zero", false}}}, {"axis", nullptr}});
  json y = Quantity("place", "");
  y.update({{"scale", {{"domain", {-0.03, 1.26}}, {"nice", false}}}, {"axis", nullptr}});
  json axes = json::array(), ticks = json::array(), titles = json::array();
  for (size_t i = 0; i < panel.axes.size(); ++i) {
    axes.push_back({{"x", i}, {"place", 0}, {"top", 1}});
    // Neighbours at two heights: long names do not meet.
    titles.push_back({{"x", i}, {"place", i % 2 == 0 ? 1.05 : 1.16}, {"label", panel.axes[i].title}});
    for (const auto& [place, word] : panel.axes[i].ticks) ticks.push_back({{"x", i}, {"place", place}, {"label", word}});
  }
  json& layers = view["layer"];
  layers.push_back(Labels(axes, {{"type", "rule"}, {"color", "#999999"}}, {{"x", x}, {"y", y}, {"y2", {{"field", "top"}}}}));
  const std::string chosen = "pick" + Identifier(text.title), near = "near" + Identifier(text.title);
  const auto opacity = [&](double strong) {
    return json{{"condition", {{"test", {{"and", json::array({json{{"param", chosen}}, kTest})}}}, {"value", strong}}},
                {"value", 0.05}};
  };
  const auto lines = [&](const char* kind, json mark, double strong) {
    json layer =
        Layer({kind}, std::move(mark),
              {{"x", x}, {"y", y}, {"detail", {{"field", "name"}}}, {"order", {{"field", "x"}}}, {"opacity", opacity(strong)}});
    layer["encoding"]["strokeWidth"] = {{"condition", {{"param", near}, {"empty", false}, {"value", 3}}},
                                        {"value", layer["mark"].value("strokeWidth", 1.3)}};
    return layer;
  };
  layers.push_back(lines("pruned", {{"type", "line"}, {"color", "#999999"}, {"strokeDash", {3, 3}}, {"strokeWidth", 1}}, 0.6));
  json complete = lines("complete", {{"type", "line"}, {"strokeWidth", 1.3}}, 0.85);
  complete["encoding"]["color"] = {{"field", "standing"},
                                   {"type", "quantitative"},
                                   {"scale", {{"scheme", "viridis"}, {"domain", {0, 1}}}},
                                   {"legend", nullptr}};
  layers.push_back(std::move(complete));
  layers.push_back(lines("best", {{"type", "line"}, {"color", "#D55E00"}, {"strokeWidth", 2.8}}, 1));
  for (const bool halo : {true, false}) {
    json mark = {{"type", "text"}, {"align", "right"}, {"dx", -5}, {"fontSize", 10}};
    if (halo) mark.update({{"stroke", "#ffffff"}, {"strokeWidth", 3}, {"strokeJoin", "round"}, {"opacity", 0.85}});
    layers.push_back(Labels(ticks, std::move(mark), {{"x", x}, {"y", y}, {"text", {{"field", "label"}}}}));
  }
  layers.push_back(Labels(titles, {{"type", "text"}, {"baseline", "bottom"}, {"fontWeight", "bold"}},
                          {{"x", x}, {"y", y}, {"text", {{"field", "label"}}}}));
  // Points that nobody sees: the one that is nearest to the pointer tells of its line, a click keeps the line.
  json points = Layer({"complete", "pruned", "best"}, {{"type", "point"}, {"filled", true}, {"size", 60}},
                      {{"x", x}, {"y", y}, {"opacity", {{"value", 0}}}});
  points["encoding"]["tooltip"] =
      json::array({Fact("name", text.thing), Fact("state", "state"), Fact("axis", "axis"), Fact("said", "value there"),
                   Fact("shown", text.y), Fact("settings", "setting")});
  points["params"] = json::array(
      {json{{"name", chosen}, {"select", {{"type", "point"}, {"fields", {"name"}}, {"toggle", "true"}}}},
       json{{"name", near},
            {"select",
             {{"type", "point"}, {"fields", {"name"}}, {"on", "pointerover"}, {"clear", "pointerout"}, {"nearest", true}}}}});
  layers.push_back(std::move(points));
  return view;
}

}  // namespace backplane
