// A table as data, independent of its renderings.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "text/number.hpp"

namespace backplane {

struct Column {
  std::string key;    // names it in CSV and JSON: "sps"
  std::string title;  // for display: "steps/s"
  std::string unit;
  std::string doc;          // a sentence
  int direction = 0;        // 1 up is better, -1 down
  int digits = 4;           // significant ones to print
  bool in_text = true;      // also in the narrow renderings (txt, md); HTML, CSV and JSON show all columns
  std::string folder = {};  // folder of the files that its space-separated words name: links on a page
};

// A text, a number, or nothing (not measured).
using Cell = std::variant<std::monostate, std::string, Number>;

// NULL if there is no such cell, or if it contains no number.
inline const Number* NumberAt(const std::vector<Cell>& row, size_t index) {
  return index < row.size() ? std::get_if<Number>(&row[index]) : nullptr;
}

struct Table {
  std::string id, title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<size_t> emphasised;  // rows that are recommended, or the baseline
  std::vector<std::string> notes;  // shown below the table
  size_t key_columns = 1;          // the first ones, which identify a row: repeated in every part of a split table
};

// A text, or a number formatted by FormatNumber; empty if it was not measured. Independent of the locale.
std::string FormatCell(const Cell& cell, const Column& column);

}  // namespace backplane
