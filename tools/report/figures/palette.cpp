#include "figures/palette.hpp"

#include <algorithm>
#include <array>

#include "base/text_columns.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 7> kColours = {"#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#333333"};
constexpr std::array<const char*, 6> kShapes = {"circle", "square", "triangle-up", "diamond", "triangle-down", "cross"};

// Pixels on, off, on, ...; the number of dashes and the number of colours are coprime.
const json& AllDashes() {
  static const json kDashes = json::parse("[[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 2, 1, 2]]");
  return kDashes;
}

template <class List>
json Taken(const List& from, size_t count) {
  json taken = json::array();
  for (size_t i = 0; i < count; ++i) taken.push_back(from[i % from.size()]);
  return taken;
}

constexpr double kLegendWidth = 840, kLegendLetter = 6.9,
                 kLegendSymbol = 40;  // pixels of a legend, of an entry's letters and of the rest of it

}  // namespace

Palette::Palette(std::string field, std::vector<std::string> names)
    : Palette(std::move(field), std::move(names), {kColours.begin(), kColours.end()}) {}

Palette::Palette(std::string field, std::vector<std::string> names, std::vector<std::string> colours)
    : field_(std::move(field)), names_(std::move(names)), colours_(std::move(colours)) {}

json Palette::Colours() const { return Taken(colours_, names_.size()); }
json Palette::Shapes() const { return Taken(kShapes, names_.size()); }
json Palette::Dashes() const { return Taken(AllDashes(), names_.size()); }

Palette Palette::OfLines() const {
  Palette lines = *this;
  lines.of_lines_ = true;
  return lines;
}

json Palette::Legend() const {
  if (names_.size() < 2) return {};
  size_t longest = 1;
  for (const std::string& name : names_) longest = std::max(longest, Columns(name));
  const double entry = kLegendLetter * static_cast<double>(longest) + kLegendSymbol;
  json legend = {{"columns", std::max(1, static_cast<int>(kLegendWidth / entry))}, {"symbolStrokeWidth", of_lines_ ? 2 : 0}};
  if (of_lines_) legend.update({{"symbolType", "stroke"}, {"symbolSize", 500}});
  return legend;
}

}  // namespace backplane
