#include "figures/figure.hpp"
#include "figures/panel_parts.hpp"

namespace backplane {

json View(const PairPanel& panel, const Palette& palette) {
  const PanelText& text = panel.text;
  const Pick pick(text, palette, /*names_on_axis=*/true);
  json view = EmptyView(text.title, panel.size.width, panel.size.height);
  view["encoding"]["x"] = {{"field", "name"},
                           {"type", "nominal"},
                           {"sort", panel.names},
                           {"title", nullptr},
                           {"scale", {{"domain", panel.names}, {"padding", 0.4}}},
                           {"axis", {{"labelAngle", 0}, {"labelLimit", 200}}}};
  const auto at = [&](const char* field) {
    json y = Quantity(field, text.y);
    y["scale"] = {{"zero", false}, {"padding", 8}};
    return y;
  };
  json& layers = view["layer"];
  layers.push_back(Layer({"one"}, {{"type", "line"}, {"color", "#999999"}, {"strokeWidth", 1}},
                         {{"y", at("value")}, {"detail", {{"field", "of"}}}, {"opacity", {{"value", 0.6}}}}));
  layers.push_back(Layer(
      {"one"}, {{"type", "point"}, {"filled", true}, {"size", 30}},
      {{"y", at("value")}, {"color", pick.Colour()}, {"opacity", {{"value", 0.8}}}, {"tooltip", TipOfOne(text, text.y)}}));
  layers.push_back(Layer({"mean"}, {{"type", "rule"}, {"strokeWidth", 2}, {"xOffset", 14}},
                         {{"y", at("low")}, {"y2", {{"field", "high"}}}, {"color", pick.Colour()}}));
  layers.push_back(Layer({"mean"}, {{"type", "point"}, {"filled", true}, {"size", 90}, {"xOffset", 14}, {"shape", "diamond"}},
                         {{"y", at("value")}, {"color", pick.Colour()}, {"tooltip", TipOfMean(text, text.y)}}));
  return view;
}

}  // namespace backplane
