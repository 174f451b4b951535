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

}  // namespace backplane
