// The figures of a comparison.
#pragma once

#include <string>
#include <vector>

#include "kinds/comparison_tables.hpp"

namespace backplane {

inline constexpr char kGainsFigure[] = "gains";

struct ComparisonFigures {
  std::vector<Figure> figures;        // gains against the baseline first, then those that the file asks for, then resources
  std::vector<std::string> left_out;  // sentences: figures without data
};

// `results`: the table that figures of kind `table` show.
ComparisonFigures MakeComparisonFigures(const ComparisonParts& parts, const Table& results);

// Default curves if the file lists no figures: returns, else a loss, else the speed.
std::vector<FigureSpec> DefaultFigures(const Combined& combined);

}  // namespace backplane
