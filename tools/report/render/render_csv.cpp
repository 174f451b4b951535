#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/document.hpp"
#include "text/csv_field.hpp"

namespace backplane {
namespace {

std::string CsvText(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "NaN"; }
std::string CsvText(const std::optional<double>& value) { return value ? CsvText(*value) : ""; }

// An optional part of a number. It gets its own column if any number of the table's column has it.
struct Part {
  const char* suffix;
  std::string (*text)(const Number&);
};

const Part kParts[] = {
    {"_low", [](const Number& number) { return CsvText(number.low); }},
    {"_high", [](const Number& number) { return CsvText(number.high); }},
    {"_sd", [](const Number& number) { return CsvText(number.sd); }},
    {"_p95", [](const Number& number) { return CsvText(number.p95); }},
    {"_max", [](const Number& number) { return CsvText(number.max); }},
    // A single reading is no sample.
    {"_n", [](const Number& number) { return number.of.empty() && number.n == 1 ? "" : std::to_string(number.n); }},
};

struct CsvColumn {
  std::string name;
  size_t index = 0;            // in the table
  const Part* part = nullptr;  // null: the value
};

std::vector<CsvColumn> CsvColumns(const Table& table) {
  std::vector<CsvColumn> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back({table.columns[i].key, i, nullptr});
    for (const Part& part : kParts) {
      const bool is_known = std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
        const Number* number = NumberAt(row, i);
        return number != nullptr && !part.text(*number).empty();
      });
      if (is_known) {
        columns.push_back({table.columns[i].key + part.suffix, i, &part});
      }
    }
  }
  return columns;
}

std::string Field(const std::vector<Cell>& row, const CsvColumn& column) {
  if (const Number* number = NumberAt(row, column.index)) {
    return column.part != nullptr ? column.part->text(*number) : CsvText(number->value);
  }
  const std::string* text = column.index < row.size() ? std::get_if<std::string>(&row[column.index]) : nullptr;
  return text != nullptr && column.part == nullptr ? CsvField(*text) : "";
}

}  // namespace

std::string RenderCsv(const Table& table) {
  const std::vector<CsvColumn> columns = CsvColumns(table);
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    text += (i == 0 ? "" : ",") + CsvField(columns[i].name);
  }
  text += "\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (size_t i = 0; i < columns.size(); ++i) {
      text += (i == 0 ? "" : ",") + Field(row, columns[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace backplane
