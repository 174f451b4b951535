// A table with text cells, shared by all readable renderings. Facts common to all cells are notes below it.
#pragma once

#include <string>
#include <vector>

#include "text/format_number.hpp"
#include "text/table.hpp"

namespace backplane {

struct CellText {
  FormattedNumber number;  // empty if the cell has none
  std::string text;        // for a cell without a number
  std::string sample;      // " (n 57)" if n differs within the column

  std::string Whole() const;  // "9,562 ± 213 (n 57)"
};

struct TableColumnText {
  const Column* column = nullptr;  // in the table
  size_t index = 0;                // in the table
  std::string heading;             // title and unit
  bool is_numeric = false;         // contains only numbers: right-aligned
};

struct TableText {
  std::vector<TableColumnText> columns;
  std::vector<std::vector<CellText>> rows;
  std::vector<bool> emphasised;    // by row
  std::vector<std::string> notes;  // the meaning of ± and n, then the table's own
  size_t keys = 1;                 // like Table::key_columns, for `columns`
};

// `narrow`: without columns that only HTML, CSV and JSON show. The result refers to `table`, which must outlive it.
TableText TextOf(const Table& table, bool narrow);

}  // namespace backplane
