// Rows of figures' data (figures/panels.hpp): a mean and its single values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.hpp"
#include "results/combine.hpp"

namespace backplane {

// A row with `name`, `trials` and the kind of its panel.
nlohmann::json RowOf(const std::string& panel, const char* kind, const std::string& name, const std::string& trials);

// "a1b2 c3d4": the ids of the usable ones.
std::string IdsOf(const Combined& combined, const std::vector<size_t>& trials);

// One of those that a mean is of.
struct Single {
  double value = 0;
  std::string of;     // "seed 3", "iteration 7"
  std::string trial;  // its id
};
// The values of a measure: of each usable trial, or, of a trial alone, of its iterations after the warm-up, where they were
// recorded under that name.
std::vector<Single> SinglesOf(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure);

// `number` with its interval cut to the range of the return. Other measures have no range.
Number InRange(const Combined& combined, const std::vector<size_t>& trials, const std::string& measure, Number number);

// A row of kind "mean" and rows of kind "one"; nothing without a finite number. All of them have the fields of `shared`.
void AddMean(const std::string& panel, const std::string& name, const std::string& trials, const Number& number, int digits,
             const std::vector<Single>& singles, const nlohmann::json& shared, Figure* figure);

// Unique names that fit next to a plot.
std::vector<std::string> FigureLabels(const std::vector<std::string>& names);

// The layout of panels that have one row per name.
struct RowLayout {
  size_t columns = 1;
  double width = 0;  // pixels of a plot
};
RowLayout LayOutRows(const std::vector<std::string>& names, size_t panels);

// Thins a line to the points that a page can show: the first, the last, and the extremes of equal parts.
std::vector<size_t> Thinned(const std::vector<double>& values);

}  // namespace backplane
