#include "figures/figure.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text/format_number.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// The size is that at which a README shows a figure of three panels.
const json& Theme() {
  static const json kTheme = json::parse(R"({
    "font": "DejaVu Sans, Verdana, sans-serif",
    "background": "#ffffff",
    "padding": 8,
    "aria": false,
    "view": {"stroke": null},
    "title": {"anchor": "start", "frame": "group", "fontSize": 12.5, "color": "#222222", "offset": 8},
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelColor": "#333333", "titleColor": "#333333",
             "gridColor": "#e8e8e8", "domainColor": "#999999", "tickColor": "#999999", "labelLimit": 0, "titleLimit": 0},
    "axisXQuantitative": {"labelFlush": 12, "labelSeparation": 6},
    "legend": {"labelFontSize": 11, "labelColor": "#333333", "labelLimit": 0, "symbolLimit": 42, "symbolSize": 60, "symbolOpacity": 1, "orient": "top",
               "title": null, "columnPadding": 14, "offset": 12, "layout": {"top": {"anchor": "start", "direction": "vertical", "margin": 6}}},
    "text": {"fontSize": 11, "color": "#333333"}
  })");
  return kTheme;
}

}  // namespace

json FiniteOrNull(double value) { return std::isfinite(value) ? json(value) : json(); }

void PutNumber(const Number& number, int digits, json* row) {
  (*row)["value"] = FiniteOrNull(number.value);
  if (number.low && number.high) {
    (*row)["low"] = FiniteOrNull(*number.low);
    (*row)["high"] = FiniteOrNull(*number.high);
  }
  (*row)["shown"] = FormatNumber(number, digits);
  (*row)["n"] = number.of.empty() ? std::to_string(number.n) : fmt::format("{} {}", number.n, number.of);
}

std::string Identifier(const std::string& text) {
  std::string identifier = "_";
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    identifier += is_plain ? c : '_';
  }
  return identifier;
}

json Specification(const Figure& figure) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"description", figure.alt},
          {"title", {{"text", figure.title}, {"fontSize", 15}, {"offset", 14}, {"frame", "bounds"}}},
          {"data", {{"values", figure.rows}}},
          {"params", figure.choices},
          {"concat", figure.panels},
          {"columns", figure.columns},
          {"spacing", 28},
          {"config", Theme()}};
}

json ToJson(const Figure& figure) {
  return {{"name", figure.name}, {"title", figure.title}, {"alt", figure.alt}, {"specification", Specification(figure)}};
}

}  // namespace backplane
