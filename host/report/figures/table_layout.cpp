#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "figures/figure_text.hpp"
#include "figures/panel_layout.hpp"

namespace backplane {
namespace {

constexpr double kGap = 1.2;        // em between columns
constexpr double kRow = 1.55;       // em
constexpr double kSmallest = 0.66;  // of an em
constexpr double kBold = 1.15;      // how much wider bold letters are

std::vector<double> ColumnWidths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<double> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], TextWidth(OneLine(row[i])) * kBold);
  }
  return widths;
}

double Total(const std::vector<double>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0.0) + kGap * static_cast<double>(widths.size());
}

// The widest columns give until all fit.
void Narrow(double room, std::vector<double>* widths) {
  constexpr double kStep = 0.25, kLeast = 2;
  while (Total(*widths) > room) {
    const auto widest = std::max_element(widths->begin(), widths->end());
    if (*widest <= kLeast) return;
    *widest -= kStep;
  }
}

// Which rows are shown, in their order: the emphasised ones, and the first of the others.
std::vector<size_t> RowsShown(const TextTable& table, size_t most) {
  std::vector<size_t> shown(table.rows.size());
  std::iota(shown.begin(), shown.end(), 0);
  const auto is_emphasised = [&](size_t row) {
    return std::find(table.emphasised.begin(), table.emphasised.end(), row) != table.emphasised.end();
  };
  std::stable_partition(shown.begin(), shown.end(), is_emphasised);
  shown.resize(std::min(shown.size(), most));
  std::sort(shown.begin(), shown.end());
  return shown;
}

}  // namespace

void PlaceTable(const TextTable& table, const Box& box, double em, PanelLayout* layout) {
  std::vector<std::vector<std::string>> rows = table.rows;
  rows.insert(rows.begin(), table.header);
  std::vector<double> widths = ColumnWidths(rows);
  if (widths.empty()) return;
  const double below = table.note.empty() ? 0 : kRow;
  const double lines = static_cast<double>(rows.size()) + below / kRow;
  const double size =
      std::clamp(std::min(box.width() / em / Total(widths), box.height() / em / (kRow * lines)), kSmallest, 1.0);
  const double letter = size * em, row_height = kRow * letter;
  Narrow(box.width() / letter, &widths);
  size_t most = static_cast<size_t>(std::max(2.0, box.height() / row_height - 1 - below / kRow + 1e-9));
  if (table.rows.size() > most) --most;  // the line that says so
  const std::vector<size_t> shown = RowsShown(table, most);

  double y = box.top + row_height / 2;
  const double left = box.left + std::max(0.0, (box.width() - Total(widths) * letter) / 2);
  const double right = left + Total(widths) * letter;
  const auto add_row = [&](const std::vector<std::string>& cells, bool bold) {
    double x = left;
    for (size_t i = 0; i < cells.size() && i < widths.size(); ++i) {
      const double width = (widths[i] + kGap) * letter, inner = kGap / 2 * letter;
      const std::string text = Shorten(OneLine(cells[i]), (widths[i] + 0.01) / (bold ? kBold : 1));
      layout->texts.push_back(
          {i == 0 ? x + inner : x + width - inner, y, text, i == 0 ? Align::kLeft : Align::kRight, size, bold});
      x += width;
    }
    y += row_height;
  };
  add_row(table.header, true);
  layout->rules.push_back({left, y - row_height / 2, right, y - row_height / 2});
  for (const size_t row : shown) {
    const bool emphasised = std::find(table.emphasised.begin(), table.emphasised.end(), row) != table.emphasised.end();
    if (emphasised) layout->tints.push_back({left, y - row_height / 2, right, y + row_height / 2});
    add_row(table.rows[row], emphasised);
  }
  layout->rules.push_back({left, y - row_height / 2, right, y - row_height / 2});
  const auto add_line = [&](const std::string& text) {
    layout->texts.push_back({left, y, Shorten(OneLine(text), box.width() / letter), Align::kLeft, size, false, true});
    y += row_height;
  };
  if (shown.size() < table.rows.size()) add_line(fmt::format("and {} more in the report", table.rows.size() - shown.size()));
  if (!table.note.empty()) add_line(table.note);
}

}  // namespace backplane
