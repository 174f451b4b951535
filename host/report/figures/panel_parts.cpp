#include "figures/panel_parts.hpp"

#include "figures/figure.hpp"

namespace backplane {

Anchors SharedAnchors(const PanelText& text, const PanelSize& size, const Palette& palette, bool names_on_axis) {
  const std::string id = Identifier(text.title);
  const json legend = names_on_axis && palette.field() == "name" ? json() : palette.Legend();
  return {{"title", text.title},
          {"x", text.x},
          {"y", text.y},
          {"thing", text.thing},
          {"width", size.width},
          {"height", size.height},
          {"series", palette.field()},
          {"names", palette.names()},
          {"colours", palette.Colours()},
          {"shapes", palette.Shapes()},
          {"dashes", palette.Dashes()},
          {"legend", legend},
          {"pick", legend.is_null() ? std::nullopt : std::optional<json>("pick" + id)},
          {"zoom", "zoom" + id},
          {"curves_name", "curves" + id}};
}

json EmptyView(const std::string& title, double width, const json& height) {
  return {{"title", title},
          {"width", width},
          {"height", height},
          {"transform", json::array({{{"filter", {{"field", "panel"}, {"equal", title}}}}})},
          {"layer", json::array()}};
}

json Layer(const json& kinds, json mark, json encoding) {
  return {{"transform", json::array({{{"filter", {{"field", "kind"}, {"oneOf", kinds}}}}})},
          {"mark", std::move(mark)},
          {"encoding", std::move(encoding)}};
}

json Labels(json values, json mark, json encoding) {
  return {{"data", {{"values", std::move(values)}}},
          {"transform", json::array()},
          {"mark", std::move(mark)},
          {"encoding", std::move(encoding)}};
}

json Quantity(const std::string& field, const std::string& title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", title}};
}

json NameAxis(const std::vector<std::string>& names) {
  return {{"field", "name"},
          {"type", "nominal"},
          {"scale", {{"domain", names}}},
          {"axis", {{"title", nullptr}, {"ticks", false}, {"domain", false}, {"grid", false}}}};
}

json TipOfMean(const PanelText& text, const std::string& value) {
  return {{{"field", "name"}, {"title", text.thing}},
          {{"field", "shown"}, {"title", value}},
          {{"field", "n"}, {"title", "n"}},
          {{"field", "trials"}, {"title", "trials"}}};
}

json TipOfOne(const PanelText& text, const std::string& value) {
  return {{{"field", "name"}, {"title", text.thing}},
          {{"field", "value"}, {"title", value}, {"type", "quantitative"}, {"format", ",.4~r"}},
          {{"field", "of"}, {"title", "of"}},
          {{"field", "trials"}, {"title", "trial"}}};
}

Pick::Pick(const PanelText& text, const Palette& palette, bool names_on_axis) : palette_(palette) {
  const bool told = names_on_axis && palette.field() == "name";
  if (!told && palette.names().size() > 1) name_ = "pick" + Identifier(text.title);
}

json Pick::Colour() const {
  json colour = palette_.Colour();
  if (name_.empty()) colour["legend"] = nullptr;
  return colour;
}

void Pick::AddTo(json* layer) const {
  if (name_.empty()) return;
  (*layer)["params"].push_back({{"name", name_},
                                {"select", {{"type", "point"}, {"fields", {palette_.field()}}, {"toggle", "true"}}},
                                {"bind", "legend"}});
}

json Pick::Opacity(double picked) const {
  if (name_.empty()) return {{"value", picked}};
  return {{"condition", {{"param", name_}, {"value", picked}}}, {"value", 0.08}};
}

}  // namespace backplane
