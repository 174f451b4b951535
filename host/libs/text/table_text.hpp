// A table with its cells as text, and with what is said once below it and not in every cell: all renderings for reading show
// the same.
#pragma once

#include <string>
#include <vector>

#include "text/format_number.hpp"
#include "text/table.hpp"

namespace backplane {

struct CellText {
  FormattedNumber number;  // empty if the cell holds none
  std::string text;        // of a cell that holds no number
  std::string sample;      // " (n 57)" where the numbers of the column do not all have the same n

  std::string Whole() const;  // "9,562 ± 213 (n 57)"
};

struct TableColumnText {
  const Column* column = nullptr;  // of the table
  size_t index = 0;                // in the table
  std::string heading;             // title and unit
  bool is_numeric = false;         // holds numbers only: stands right-aligned
};

struct TableText {
  std::vector<TableColumnText> columns;
  std::vector<std::vector<CellText>> rows;
  std::vector<bool> emphasised;    // by row
  std::vector<std::string> notes;  // what ± means and n, then the table's own
  size_t keys = 1;                 // as Table::key_columns, of those in `columns`
};

// `narrow`: without the columns that only HTML, CSV and JSON show. Refers to `table`, which must outlive it.
TableText TextOf(const Table& table, bool narrow);

}  // namespace backplane
