#include "figures/figure.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace backplane {
namespace {

using nlohmann::json;

template <class Enum, size_t N>
using Words = std::array<std::pair<Enum, const char*>, N>;

constexpr Words<Scale, 3> kScales = {{{Scale::kLinear, "linear"}, {Scale::kLog2, "log2"}, {Scale::kLog10, "log10"}}};
constexpr Words<Series::Style, 8> kStyles = {{{Series::Style::kLine, "line"},
                                              {Series::Style::kPoints, "points"},
                                              {Series::Style::kBars, "bars"},
                                              {Series::Style::kReference, "reference"},
                                              {Series::Style::kCurve, "curve"},
                                              {Series::Style::kParts, "parts"},
                                              {Series::Style::kLevel, "level"},
                                              {Series::Style::kHollow, "hollow"}}};
constexpr Words<KeyPlace, 4> kKeyPlaces = {{{KeyPlace::kTopLeft, "top left"},
                                            {KeyPlace::kTopRight, "top right"},
                                            {KeyPlace::kBottomLeft, "bottom left"},
                                            {KeyPlace::kBottomRight, "bottom right"}}};

template <class Enum, size_t N>
const char* NameOf(Enum value, const Words<Enum, N>& words) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  throw std::logic_error("an enum value without a word");
}

// JSON has no NaN and no infinity: null.
json NumberToJson(double value) { return std::isfinite(value) ? json(value) : json(); }

void PutLimits(const std::optional<double>& low, const std::optional<double>& high, json* object) {
  if (low) (*object)["low"] = NumberToJson(*low);
  if (high) (*object)["high"] = NumberToJson(*high);
}

json ToJson(const Axis& axis) {
  json object = {{"label", axis.label}, {"scale", NameOf(axis.scale, kScales)}};
  PutLimits(axis.low, axis.high, &object);
  if (!axis.categories.empty()) object["categories"] = axis.categories;
  return object;
}

json ToJson(const Series& series) {
  json marks = json::array();
  for (const Datum& mark : series.marks) {
    json object = {{"x", NumberToJson(mark.x)}, {"y", NumberToJson(mark.y)}};
    PutLimits(mark.low, mark.high, &object);
    if (!mark.label.empty()) object["label"] = mark.label;
    marks.push_back(std::move(object));
  }
  return {{"title", series.title}, {"style", NameOf(series.style, kStyles)}, {"colour", series.colour}, {"marks", marks}};
}

json ToJson(const TextTable& table) {
  return {{"header", table.header}, {"rows", table.rows}, {"emphasised", table.emphasised}, {"note", table.note}};
}

json ToJson(const Panel& panel) {
  json object = {
      {"title", panel.title},    {"x", ToJson(panel.x)},   {"y", ToJson(panel.y)},   {"key", NameOf(panel.key, kKeyPlaces)},
      {"series", json::array()}, {"bands", json::array()}, {"lines", json::array()}, {"note", panel.note}};
  for (const Series& series : panel.series) object["series"].push_back(ToJson(series));
  for (const HorizontalBand& band : panel.bands) {
    object["bands"].push_back({{"low", NumberToJson(band.low)}, {"high", NumberToJson(band.high)}, {"label", band.label}});
  }
  for (const HorizontalLine& line : panel.lines) {
    object["lines"].push_back({{"y", NumberToJson(line.y)}, {"label", line.label}});
  }
  if (panel.table) object["table"] = ToJson(*panel.table);
  return object;
}

}  // namespace

json ToJson(const Figure& figure) {
  json panels = json::array();
  for (const Panel& panel : figure.panels) panels.push_back(ToJson(panel));
  return {{"name", figure.name},   {"title", figure.title},   {"alt", figure.alt}, {"columns", figure.columns},
          {"width", figure.width}, {"height", figure.height}, {"panels", panels}};
}

}  // namespace backplane
