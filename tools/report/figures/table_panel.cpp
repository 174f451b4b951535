#include <fmt/format.h>

#include <algorithm>

#include "base/text_columns.hpp"
#include "figures/figure.hpp"
#include "figures/panel_parts.hpp"

namespace backplane {
namespace {

constexpr double kCellLetter = 7.0, kCellGap = 14, kTableRow = 18, kTableWidth = 880;  // pixels

// Width per column, including the gap after it.
std::vector<double> Widths(const TablePanel& table) {
  std::vector<double> widths;
  for (size_t column = 0; column < table.header.size(); ++column) {
    size_t widest = Columns(table.header[column]);
    for (const auto& row : table.rows) widest = std::max(widest, Columns(row.at(column)));
    widths.push_back(kCellLetter * static_cast<double>(widest) + kCellGap);
  }
  return widths;
}

// Splits columns into bands. A picture wider than a page would shrink until it is unreadable. Each band repeats the first
// column, which names the rows.
std::vector<std::vector<size_t>> Bands(const std::vector<double>& widths) {
  std::vector<std::vector<size_t>> bands;
  double taken = 0;
  for (size_t column = 0; column < widths.size(); ++column) {
    if (bands.empty() || (taken + widths[column] > kTableWidth && bands.back().size() > 1)) {
      bands.emplace_back();
      if (column > 0) bands.back().push_back(0);
      taken = column > 0 ? widths[0] : 0;
    }
    bands.back().push_back(column);
    taken += widths[column];
  }
  return bands;
}

bool IsEmphasised(const TablePanel& table, size_t row) {
  return std::find(table.emphasised.begin(), table.emphasised.end(), row) != table.emphasised.end();
}

// The first rows, with room for emphasised ones further down.
std::vector<size_t> Shown(const TablePanel& table) {
  size_t room = table.most;
  for (size_t row = 0; row < table.rows.size(); ++row) room -= IsEmphasised(table, row) && room > 0 ? 1 : 0;
  std::vector<size_t> shown;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (!IsEmphasised(table, row) && room == 0) continue;
    room -= IsEmphasised(table, row) ? 0 : 1;
    shown.push_back(row);
  }
  return shown;
}

json Cell(double x, double y, const std::string& text, bool bold) {
  return {{"x", x}, {"y", y}, {"text", text}, {"bold", bold}};
}

}  // namespace

json View(const TablePanel& table) {
  const std::vector<double> widths = Widths(table);
  const std::vector<size_t> shown = Shown(table);
  std::vector<std::string> notes = table.notes;
  if (shown.size() < table.rows.size())
    notes.insert(notes.begin(), fmt::format("and {} more in the report", table.rows.size() - shown.size()));
  json cells = json::array(), tints = json::array(), rules = json::array();
  double y = -kTableRow / 2, width = 0;
  for (const std::vector<size_t>& band : Bands(widths)) {
    if (!rules.empty()) y += kTableRow / 2;
    const auto add_row = [&](const std::vector<std::string>& texts, bool bold) {
      double x = 0;
      for (const size_t column : band) {
        cells.push_back(Cell(x, y, texts[column], bold));
        x += widths[column];
      }
      width = std::max(width, x);
    };
    y += kTableRow;
    add_row(table.header, true);
    rules.push_back({{"below", y + kTableRow / 2}});
    for (const size_t row : shown) {
      y += kTableRow;
      const bool bold = IsEmphasised(table, row);
      if (bold) tints.push_back({{"top", y - kTableRow / 2}, {"bottom", y + kTableRow / 2}});
      add_row(table.rows[row], bold);
    }
  }
  for (const std::string& note : notes) cells.push_back(Cell(0, y += kTableRow, note, false));
  for (const std::string& note : notes) width = std::max(width, kCellLetter * static_cast<double>(Columns(note)));
  const double height = y + kTableRow / 2;
  return FillChart("table", {{"title", table.title},
                             {"table_name", "table" + Identifier(table.title)},
                             {"width", width},
                             {"height", height},
                             {"tints", tints},
                             {"rules", rules},
                             {"cells", cells}});
}

}  // namespace backplane
