#include "text/text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/text_columns.hpp"
#include "text/table_text.hpp"
#include "text/text_lines.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

constexpr size_t kColumnGap = 2, kGutter = 2;  // between columns; before the first, for the "*"
constexpr size_t kNarrowestWords = 16;         // to which a column of words is folded
constexpr size_t kWidestWord = 30;             // for whose sake the first column stays wider
constexpr size_t kWidestWords = 24;            // of a further column that stays in a table that does not fit
constexpr size_t kWidestHeading = 14;          // of a numeric column; a longer heading has more lines

struct Layout {
  const TableText& table;
  std::vector<size_t> widths;   // by column of the table
  std::vector<size_t> columns;  // adjacent columns, in order
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

size_t Total(const Layout& layout) {
  size_t total = kGutter;
  for (const size_t column : layout.columns) {
    total += layout.widths[column] + kColumnGap;
  }
  return total - kColumnGap;
}

// Sentences would press everything else together: they follow below, named by their row.
void TakeOutSentences(Layout* layout) {
  std::erase_if(layout->columns, [&](size_t column) {
    return column >= layout->table.keys && !layout->table.columns[column].is_numeric && layout->widths[column] > kWidestWords;
  });
}

// Narrows the first column, but only between words.
void FoldNames(Layout* layout, size_t width) {
  size_t narrowest = kNarrowestWords;
  for (size_t row = 0; row < layout->table.rows.size(); ++row) {
    for (const std::string& word : WrapWords(CellAt(layout->table, row, 0), 1)) {
      narrowest = std::max(narrowest, std::min(kWidestWord, Columns(word)));
    }
  }
  while (layout->widths[0] > narrowest && Total(*layout) > width) {
    --layout->widths[0];
  }
}

// One row of the table, with as many lines as its tallest cell.
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
      row += std::string(kColumnGap, ' ');
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

// As many columns as fit next to the row's names, at least one.
std::vector<std::vector<size_t>> Parts(const Layout& layout, size_t width) {
  std::vector<std::vector<size_t>> parts;
  const size_t keys = std::clamp<size_t>(layout.table.keys, 1, layout.columns.size());
  size_t named = kGutter;
  for (size_t key = 0; key < keys; ++key) named += layout.widths[key] + (key > 0 ? kColumnGap : 0);
  for (size_t next = keys; next < layout.columns.size() || parts.empty();) {
    std::vector<size_t> part(layout.columns.begin(), layout.columns.begin() + static_cast<std::ptrdiff_t>(keys));
    size_t used = named;
    while (next < layout.columns.size() &&
           (part.size() == keys || used + kColumnGap + layout.widths[layout.columns[next]] <= width)) {
      used += kColumnGap + layout.widths[layout.columns[next]];
      part.push_back(layout.columns[next++]);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// "NAME: words" for each row and each column that was moved out of the table.
std::string Sentences(const Layout& layout, size_t width) {
  std::string text;
  for (size_t column = 0; column < layout.widths.size(); ++column) {
    if (std::find(layout.columns.begin(), layout.columns.end(), column) != layout.columns.end()) {
      continue;
    }
    text += "\n" + Hanging("  ", layout.table.columns[column].heading, width);
    for (size_t row = 0; row < layout.table.rows.size(); ++row) {
      const std::string words = CellAt(layout.table, row, column);
      text += words.empty() ? "" : Hanging("  - ", CellAt(layout.table, row, 0) + ": " + words, width);
    }
  }
  return text;
}

// No column is wider than the space that the row's names leave.
void Limit(Layout* layout, size_t width) {
  const size_t keys = std::min(layout->table.keys, layout->widths.size());
  size_t named = kGutter;
  for (size_t i = 0; i < keys; ++i) {
    layout->widths[i] = std::min(layout->widths[i], width / (keys + 1));
    named += layout->widths[i] + kColumnGap;
  }
  for (size_t i = keys; i < layout->widths.size(); ++i) {
    layout->widths[i] = std::min(layout->widths[i], width - named);
  }
}

Layout LayOut(const TableText& table, size_t width) {
  Layout layout{table, {}, {}};
  for (size_t i = 0; i < table.columns.size(); ++i) {
    layout.widths.push_back(NaturalWidth(table, i));
    layout.columns.push_back(i);
  }
  if (Total(layout) > width) {
    TakeOutSentences(&layout);
    FoldNames(&layout, width);
    Limit(&layout, width);
  }
  return layout;
}

std::string Body(const TableText& table, size_t width) {
  const Layout layout = LayOut(table, width);
  std::string text;
  for (const std::vector<size_t>& part : Parts(layout, width)) {
    text += (text.empty() ? "" : "\n") + Part(layout, part);
  }
  return text + Sentences(layout, width);
}

// The last column after the row's names, if there are several and not all fit.
std::optional<size_t> ColumnTooMany(const Table& table, size_t width) {
  const TableText texts = TextOf(table, /*narrow=*/true);
  const Layout layout = LayOut(texts, width);
  if (layout.columns.size() <= texts.keys + 1 || Total(layout) <= width) return std::nullopt;
  return texts.columns[layout.columns.back()].index;
}

}  // namespace

std::string FormatTextTable(const Table& table, size_t width) {
  const TableText texts = TextOf(table, /*narrow=*/true);
  std::string text = table.title.empty() ? "" : Hanging("", table.title, width) + "\n";
  text += texts.columns.empty() ? "" : Body(texts, width);
  for (const std::string& note : texts.notes) {
    text += "\n" + Hanging("  ", note, width);
  }
  return text;
}

std::string FormatScreenTable(Table table, size_t width) {
  std::string left_out;
  while (const std::optional<size_t> column = ColumnTooMany(table, width)) {
    table.columns[*column].in_text = false;
    left_out = table.columns[*column].title + (left_out.empty() ? "" : ", ") + left_out;
  }
  if (!left_out.empty()) table.notes.push_back("Columns left out to fit the width: " + left_out + ".");
  return FormatTextTable(table, width);
}

}  // namespace backplane
