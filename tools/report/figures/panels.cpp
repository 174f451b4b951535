#include "figures/panels.hpp"

#include <algorithm>

#include "figures/panel_parts.hpp"

namespace backplane {
namespace {

// No value without lines: their layers are removed.
std::optional<json> LineValues(const std::vector<LineLabel>& lines) {
  json values = json::array();
  for (const LineLabel& line : lines) values.push_back({{"at", line.at}, {"label", line.label}});
  return lines.empty() ? std::nullopt : std::optional(values);
}

std::optional<json> BandValues(const std::vector<BandLabel>& bands) {
  json values = json::array();
  for (const BandLabel& band : bands)
    values.push_back({{"low", band.low},
                      {"high", band.high},
                      {"middle", (band.low + band.high) / 2},
                      {"label", band.label},
                      {"tint", values.size() % 2 == 0 ? 0.03 : 0.1}});
  return bands.empty() ? std::nullopt : std::optional(values);
}

PanelSize ForRows(PanelSize size, const std::vector<std::string>& names) {
  size.height *= static_cast<double>(std::max<size_t>(names.size(), 1));
  return size;
}

json ScaleOfY(const SweepPanel& panel) {
  if (panel.y_low && panel.y_high) return {{"domain", {*panel.y_low, *panel.y_high}}, {"nice", false}};
  json scale = panel.log_y ? json{{"type", "log"}, {"base", 2}, {"nice", false}} : json{{"zero", true}};
  if (panel.y_low) scale["domainMin"] = *panel.y_low;
  return scale;
}

}  // namespace

json View(const SweepPanel& panel, const Palette& palette) {
  const double first = panel.ticks.empty() ? 1 : panel.ticks.front(), last = panel.ticks.empty() ? 1 : panel.ticks.back();
  json y_axis = {{"tickCount", 5}};
  if (panel.log_y) y_axis["format"] = "~g";
  return FillChart("sweep",
                   {{"x_domain", json{first * 0.8, last * 1.25}},
                    {"ticks", panel.ticks},
                    {"y_scale", ScaleOfY(panel)},
                    {"y_axis", y_axis},
                    {"bands", BandValues(panel.bands)},
                    {"lines", LineValues(panel.lines)}},
                   SharedAnchors(panel.text, panel.size, palette));
}

json View(const BarPanel& panel, const Palette& palette) {
  // The first label ends at its line and the next one starts there, because the lines may be close.
  const auto second = panel.lines.empty() ? panel.lines.end() : panel.lines.begin() + 1;
  return FillChart("bars",
                   {{"row_names", panel.names},
                    {"x_domain", panel.x_high ? std::optional(json{0, *panel.x_high}) : std::nullopt},
                    {"lines", LineValues(panel.lines)},
                    {"first_line", LineValues({panel.lines.begin(), second})},
                    {"further_lines", LineValues({second, panel.lines.end()})}},
                   SharedAnchors(panel.text, ForRows(panel.size, panel.names), palette, /*names_on_axis=*/true));
}

json View(const RatioPanel& panel, const Palette& palette) {
  return FillChart("ratios", {{"row_names", panel.names}, {"baseline", panel.baseline}},
                   SharedAnchors(panel.text, ForRows(panel.size, panel.names), palette, /*names_on_axis=*/true));
}

json View(const SharePanel& panel, const Palette& palette) {
  return FillChart("shares", {{"row_names", panel.names}},
                   SharedAnchors(panel.text, ForRows(panel.size, panel.names), palette));
}

json View(const StackPanel& panel, const Palette& palette) {
  json tooltip = json::array();
  for (const std::string& name : palette.names())
    tooltip.push_back({{"field", name}, {"title", name}, {"type", "quantitative"}, {"format", ".1f"}});
  return FillChart("stack",
                   {{"place_of_name", "indexof(" + json(palette.names()).dump() + ", datum." + palette.field() + ")"},
                    {"names_in_tooltip", tooltip}},
                   SharedAnchors(panel.text, panel.size, palette));
}

json View(const ScatterPanel& panel, const Palette& palette) {
  return FillChart("scatter", {}, SharedAnchors(panel.text, panel.size, palette));
}

json View(const TradeOffPanel& panel, const Palette& palette) {
  return FillChart("tradeoff", {}, SharedAnchors(panel.text, panel.size, palette));
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
