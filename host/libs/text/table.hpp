// A table as data: what renderings make text of.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "text/number.hpp"

namespace backplane {

struct Column {
  std::string key;    // names it in CSV and JSON: "sps"
  std::string title;  // for people: "steps/s"
  std::string unit;
  std::string doc;          // a sentence
  int direction = 0;        // 1 up is better, -1 down
  int digits = 4;           // significant ones to print
  bool in_text = true;      // also in the narrow renderings (txt, md); all columns are in HTML, CSV and JSON
  std::string folder = {};  // its words, separated by spaces, are names in it: links on a page
};

// A text, a number, or nothing ("" : not measured).
using Cell = std::variant<std::monostate, std::string, Number>;

// NULL: there is no such cell, or it holds no number.
inline const Number* NumberAt(const std::vector<Cell>& row, size_t index) {
  return index < row.size() ? std::get_if<Number>(&row[index]) : nullptr;
}

struct Table {
  std::string id, title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<size_t> emphasised;  // rows that are recommended, or the baseline
  std::vector<std::string> notes;  // below it
  size_t key_columns = 1;          // the first ones, which name a row: they stand in every part of a table that is split
};

// A text, or a number as FormatNumber gives it; empty where nothing was measured. Nothing depends on the locale.
std::string FormatCell(const Cell& cell, const Column& column);

}  // namespace backplane
