// Rows of figures' data (figures/panels.hpp): a mean and its single values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.hpp"
#include "results/combine.hpp"

namespace backplane {

// Of one that says `name`, `trials` and what its panel is.
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

// Names short enough to stand beside a plot, each once.
std::vector<std::string> FigureLabels(const std::vector<std::string>& names);

// How panels with a row for each name share a figure's width.
struct RowLayout {
  size_t columns = 1;
  double width = 0;  // pixels of a plot
};
RowLayout LayOutRows(const std::vector<std::string>& names, size_t panels);

// Which of `values` to draw where a line has more than a page shows: the first and the last, and the least and the largest of
// equal parts.
std::vector<size_t> Thinned(const std::vector<double>& values);

}  // namespace backplane
