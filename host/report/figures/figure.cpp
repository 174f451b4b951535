#include "figures/figure.hpp"

#include <array>
#include <cmath>
#include <limits>
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
const char* WordOf(Enum value, const Words<Enum, N>& words) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  throw std::logic_error("an enum value without a word");
}

template <class Enum, size_t N>
Enum FromWord(const json& word, const Words<Enum, N>& words) {
  std::string all;
  for (const auto& [value, known] : words) {
    if (word == known) return value;
    all += std::string(all.empty() ? "" : ", ") + known;
  }
  throw std::runtime_error("not a figure: found " + word.dump() + " where one of these must be: " + all);
}

// JSON has no NaN and no infinity: null.
json NumberToJson(double value) { return std::isfinite(value) ? json(value) : json(); }
double NumberFromJson(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

void PutLimits(const std::optional<double>& low, const std::optional<double>& high, json* object) {
  if (low) (*object)["low"] = NumberToJson(*low);
  if (high) (*object)["high"] = NumberToJson(*high);
}

std::optional<double> Limit(const json& object, const char* key) {
  return object.contains(key) ? std::optional(NumberFromJson(object.at(key))) : std::nullopt;
}

json ToJson(const Axis& axis) {
  json object = {{"label", axis.label}, {"scale", WordOf(axis.scale, kScales)}};
  PutLimits(axis.low, axis.high, &object);
  if (!axis.categories.empty()) object["categories"] = axis.categories;
  return object;
}

Axis AxisFromJson(const json& object) {
  return {object.at("label"), FromWord(object.at("scale"), kScales), Limit(object, "low"), Limit(object, "high"),
          object.value("categories", std::vector<std::string>{})};
}

json ToJson(const Series& series) {
  json marks = json::array();
  for (const Datum& mark : series.marks) {
    json object = {{"x", NumberToJson(mark.x)}, {"y", NumberToJson(mark.y)}};
    PutLimits(mark.low, mark.high, &object);
    if (!mark.label.empty()) object["label"] = mark.label;
    marks.push_back(std::move(object));
  }
  return {{"title", series.title}, {"style", WordOf(series.style, kStyles)}, {"colour", series.colour}, {"marks", marks}};
}

Series SeriesFromJson(const json& object) {
  Series series{object.at("title"), FromWord(object.at("style"), kStyles), object.at("colour"), {}};
  for (const json& mark : object.at("marks")) {
    series.marks.push_back({NumberFromJson(mark.at("x")), NumberFromJson(mark.at("y")), Limit(mark, "low"), Limit(mark, "high"),
                            mark.value("label", "")});
  }
  return series;
}

json ToJson(const TextTable& table) {
  return {{"header", table.header}, {"rows", table.rows}, {"emphasised", table.emphasised}, {"note", table.note}};
}

TextTable TableFromJson(const json& object) {
  return {object.at("header"), object.at("rows"), object.at("emphasised"), object.at("note")};
}

json ToJson(const Panel& panel) {
  json object = {
      {"title", panel.title},    {"x", ToJson(panel.x)},   {"y", ToJson(panel.y)},   {"key", WordOf(panel.key, kKeyPlaces)},
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

Panel PanelFromJson(const json& object) {
  Panel panel;
  panel.title = object.at("title");
  panel.x = AxisFromJson(object.at("x"));
  panel.y = AxisFromJson(object.at("y"));
  panel.key = FromWord(object.at("key"), kKeyPlaces);
  panel.note = object.at("note");
  for (const json& series : object.at("series")) panel.series.push_back(SeriesFromJson(series));
  for (const json& band : object.at("bands")) {
    panel.bands.push_back({NumberFromJson(band.at("low")), NumberFromJson(band.at("high")), band.at("label")});
  }
  for (const json& line : object.at("lines")) panel.lines.push_back({NumberFromJson(line.at("y")), line.at("label")});
  if (object.contains("table")) panel.table = TableFromJson(object.at("table"));
  return panel;
}

}  // namespace

json ToJson(const Figure& figure) {
  json panels = json::array();
  for (const Panel& panel : figure.panels) panels.push_back(ToJson(panel));
  return {{"name", figure.name},   {"title", figure.title},   {"alt", figure.alt}, {"columns", figure.columns},
          {"width", figure.width}, {"height", figure.height}, {"panels", panels}};
}

Figure FigureFromJson(const json& object) {
  try {
    Figure figure{object.at("name"),
                  object.at("title"),
                  object.at("alt"),
                  object.at("columns"),
                  object.at("width"),
                  object.at("height"),
                  {}};
    for (const json& panel : object.at("panels")) figure.panels.push_back(PanelFromJson(panel));
    return figure;
  } catch (const json::exception& error) {
    throw std::runtime_error(std::string("not a figure: ") + error.what());
  }
}

}  // namespace backplane
