#include "report/text_table.hpp"

#include <algorithm>

#include "base/text_columns.hpp"
#include "report/table_text.hpp"
#include "report/text_lines.hpp"

namespace backplane {
namespace {

constexpr size_t kGap = 2, kGutter = 2;  // between columns; before the first, for the "*"
constexpr size_t kNarrowestWords = 16;   // to which a column of words is folded
constexpr size_t kWidestHeading = 14;    // of a column of numbers; a longer heading takes more lines

struct Layout {
  const TableText& table;
  std::vector<size_t> widths;  // by column
};

std::string CellAt(const TableText& table, size_t row, size_t column) { return OneLine(table.rows[row][column].Whole()); }

size_t NaturalWidth(const TableText& table, size_t column) {
  size_t cells = 1;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    cells = std::max(cells, Columns(CellAt(table, row, column)));
  }
  const std::string& heading = table.columns[column].heading;
  size_t words = 1;
  for (const std::string& line : WrapWords(OneLine(heading), std::max(cells, kWidestHeading))) {
    words = std::max(words, Columns(line));
  }
  return std::max(cells, words);
}

size_t Total(const std::vector<size_t>& widths) {
  size_t total = kGutter;
  for (const size_t width : widths) {
    total += width + kGap;
  }
  return total - kGap;
}

// The widest column of words gives first, until all fits or none can give.
void FoldWords(Layout* layout, size_t width) {
  while (Total(layout->widths) > width) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < layout->widths.size(); ++i) {
      if (!layout->table.columns[i].is_numeric && layout->widths[i] > kNarrowestWords &&
          (widest == nullptr || layout->widths[i] > *widest)) {
        widest = &layout->widths[i];
      }
    }
    if (widest == nullptr) {
      return;
    }
    --*widest;
  }
}

// One row of the table, on as many lines as its tallest cell has.
std::string RowLines(const Layout& layout, const std::vector<size_t>& columns, const std::vector<std::string>& texts,
                     const char* gutter) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (size_t i = 0; i < columns.size(); ++i) {
    cells.push_back(Fold(texts[i], layout.widths[columns[i]]));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    std::string row = line == 0 ? gutter : std::string(kGutter, ' ');
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = line < cells[i].size() ? cells[i][line] : "";
      const size_t width = layout.widths[columns[i]];
      row += layout.table.columns[columns[i]].is_numeric ? PadLeft(cell, width) : PadRight(cell, width);
      row += std::string(kGap, ' ');
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string Part(const Layout& layout, const std::vector<size_t>& columns) {
  std::vector<std::string> headings, rules;
  for (const size_t column : columns) {
    headings.push_back(layout.table.columns[column].heading);
    rules.push_back(std::string(layout.widths[column], '-'));
  }
  std::string text = RowLines(layout, columns, headings, "  ") + RowLines(layout, columns, rules, "  ");
  for (size_t row = 0; row < layout.table.rows.size(); ++row) {
    std::vector<std::string> cells;
    for (const size_t column : columns) {
      cells.push_back(CellAt(layout.table, row, column));
    }
    text += RowLines(layout, columns, cells, layout.table.emphasised[row] ? "* " : "  ");
  }
  return text;
}

// As many columns as fit beside the first one, at least one.
std::vector<std::vector<size_t>> Parts(const Layout& layout, size_t width) {
  std::vector<std::vector<size_t>> parts;
  for (size_t next = 1; next < layout.widths.size() || parts.empty();) {
    std::vector<size_t> part = {0};
    size_t used = kGutter + layout.widths[0];
    while (next < layout.widths.size() && (part.size() == 1 || used + kGap + layout.widths[next] <= width)) {
      used += kGap + layout.widths[next];
      part.push_back(next++);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

std::string FormatTextTable(const Table& table, size_t width) {
  const TableText texts = TextOf(table, /*narrow=*/true);
  std::string text = table.title.empty() ? "" : Hanging("", table.title, width) + "\n";
  if (!texts.columns.empty()) {
    Layout layout{texts, {}};
    for (size_t i = 0; i < texts.columns.size(); ++i) {
      layout.widths.push_back(NaturalWidth(texts, i));
    }
    FoldWords(&layout, width);
    // What can not fit beside the first column is folded too, numbers as well: no line is wider.
    const size_t first = std::min(layout.widths[0], width / 2);
    for (size_t i = 0; i < layout.widths.size(); ++i) {
      layout.widths[i] = std::min(layout.widths[i], i == 0 ? first : width - kGutter - first - kGap);
    }
    const std::vector<std::vector<size_t>> parts = Parts(layout, width);
    for (size_t i = 0; i < parts.size(); ++i) {
      text += (i == 0 ? "" : "\n") + Part(layout, parts[i]);
    }
  }
  for (const std::string& note : texts.notes) {
    text += "\n" + Hanging("  ", note, width);
  }
  return text;
}

}  // namespace backplane
