// What the kinds of panels are put together of. For panels' sources only.
#pragma once

#include "figures/chart.hpp"
#include "figures/panels.hpp"

namespace backplane {

using nlohmann::json;

// A click on a legend picks series, and the others fade. Labels on an axis, or a single name, need no legend: then `pick` has
// no value.
Anchors SharedAnchors(const PanelText& text, const PanelSize& size, const Palette& palette, bool names_on_axis = false);

// A view with its title and size, of the rows of its panel alone, without layers.
json EmptyView(const std::string& title, double width, const json& height);

// Of the rows of that kind, or of those kinds.
json Layer(const json& kinds, json mark, json encoding);

// A layer of values that stand in the specification.
json Labels(json values, json mark, json encoding);

json Quantity(const std::string& field, const std::string& title);
json NameAxis(const std::vector<std::string>& names);

// What a tooltip says of a mean, and of one of those that it is the mean of.
json TipOfMean(const PanelText& text, const std::string& value);
json TipOfOne(const PanelText& text, const std::string& value);

// A click on a legend picks series: the others fade. Where names stand on an axis, or there is one alone, there is no legend.
class Pick {
 public:
  Pick(const PanelText& text, const Palette& palette, bool names_on_axis = false);

  json Colour() const;
  void AddTo(json* layer) const;
  json Opacity(double picked) const;

 private:
  const Palette& palette_;
  std::string name_;  // of the parameter; empty: nothing to pick
};

}  // namespace backplane
