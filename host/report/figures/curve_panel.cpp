#include <array>
#include <string>

#include "figures/chart.hpp"
#include "figures/figure.hpp"
#include "figures/panel_parts.hpp"

namespace backplane {
namespace {

constexpr const char* kSmoothing = "smoothing";
constexpr std::array<int, 3> kWindows = {1, 5, 21};  // points

// Sets `fields` to their means over as many points as the reader has chosen, along the line of each trial, or group of trials.
json Smoothed(const std::vector<std::string>& fields) {
  json steps = json::array();
  for (const int points : kWindows) {
    if (points == 1) continue;
    json means = json::array();
    for (const std::string& field : fields)
      means.push_back({{"op", "mean"}, {"field", field}, {"as", field + std::to_string(points)}});
    steps.push_back({{"window", means},
                     {"frame", {-points / 2, points / 2}},
                     {"sort", json::array({{{"field", "x"}}})},
                     {"groupby", json::array({"trials"})}});
  }
  for (const std::string& field : fields) {
    std::string chosen = "datum." + field;
    for (const int points : kWindows) {
      const std::string window = std::to_string(points);
      if (points > 1) chosen = std::string(kSmoothing) + " == " + window + " ? datum." + field + window + " : " + chosen;
    }
    steps.push_back({{"calculate", chosen}, {"as", field}});
  }
  return steps;
}

json Smooth(json layer, const std::vector<std::string>& fields) {
  for (json& step : Smoothed(fields)) layer["transform"].push_back(std::move(step));
  return layer;
}

}  // namespace

json Smoothing() { return FillChart("smoothing"); }

json View(const CurvePanel& panel, const Palette& points) {
  const PanelText& text = panel.text;
  const Palette palette = points.OfLines(), dashes = panel.dashes.value_or(points).OfLines();
  const Pick pick(text, palette);
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  view["name"] = "curves" + Identifier(text.title);
  view["encoding"] = {{"x", Quantity("x", text.x)}, {"color", pick.Colour()}};
  view["encoding"]["x"].update(
      {{"scale", {{"nice", false}}},
       {"axis", {{"tickCount", 6}, {"grid", false}, {"labelOverlap", "greedy"}, {"labelSeparation", 8}, {"labelBound", 8}}}});
  const auto at = [&](const char* field) {
    json y = Quantity(field, text.y);
    y.update({{"scale", {{"zero", false}, {"padding", 6}}}, {"axis", {{"tickCount", 6}}}});
    return y;
  };
  const auto smooth = [&](json layer, const std::vector<std::string>& fields) {
    return panel.smooths ? Smooth(std::move(layer), fields) : layer;
  };
  const json detail = {{"field", "trials"}};
  json& layers = view["layer"];
  json band = Layer({"mean"}, {{"type", "area"}, {"clip", true}},
                    {{"y", at("low")}, {"y2", {{"field", "high"}}}, {"detail", detail}, {"opacity", pick.Opacity(0.18)}});
  band["transform"].push_back({{"filter", {{"field", "low"}, {"valid", true}}}});
  layers.push_back(smooth(std::move(band), {"low", "high"}));
  layers.push_back(smooth(Layer({"one"}, {{"type", "line"}, {"strokeWidth", 0.8}, {"clip", true}},
                                {{"y", at("value")}, {"detail", detail}, {"opacity", pick.Opacity(0.4)}}),
                          {"value"}));
  layers.push_back(Layer({"level"}, {{"type", "rule"}, {"strokeWidth", 1.8}},
                         {{"x", nullptr}, {"y", at("value")}, {"strokeDash", dashes.Dash()}, {"opacity", pick.Opacity(1)}}));
  layers.back()["encoding"]["tooltip"] = TipOfMean(text, text.y);
  layers.push_back(Layer({"spot"}, {{"type", "point"}, {"filled", true}, {"size", 70}},
                         {{"y", at("value")}, {"opacity", pick.Opacity(1)}, {"tooltip", TipOfMean(text, text.y)}}));
  json lines = smooth(
      Layer({"mean"}, {{"type", "line"}, {"strokeWidth", 1.8}, {"clip", true}, {"invalid", "break-paths-filter-domains"}},
            {{"y", at("value")}, {"detail", detail}, {"strokeDash", dashes.Dash()}, {"opacity", pick.Opacity(1)}}),
      {"value"});
  pick.AddTo(&lines);
  // Without the shift key a wheel scrolls the page.
  lines["params"].push_back({{"name", "zoom" + Identifier(text.title)},
                             {"bind", "scales"},
                             {"select", {{"type", "interval"}, {"zoom", "wheel![event.shiftKey]"}}}});
  layers.push_back(std::move(lines));
  // Points that nobody sees until the pointer comes near.
  json spots = smooth(Layer({"mean"}, {{"type", "point"}, {"filled", true}, {"size", 60}, {"clip", true}},
                            {{"y", at("value")}, {"opacity", {{"value", 0}}}}),
                      {"value"});
  spots["encoding"]["tooltip"] = {{{"field", "name"}, {"title", text.thing}},
                                  {{"field", "x"}, {"title", text.x}, {"type", "quantitative"}, {"format", ",.6~r"}},
                                  {{"field", "value"}, {"title", text.y}, {"type", "quantitative"}, {"format", ",.4~r"}},
                                  {{"field", "interval"}, {"title", "95 % interval"}},
                                  {{"field", "n"}, {"title", "n"}},
                                  {{"field", "trials"}, {"title", "trials"}}};
  layers.push_back(std::move(spots));
  return view;
}

}  // namespace backplane
