#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "base/text_columns.hpp"
#include "render/html_text.hpp"
#include "text/table_text.hpp"

namespace backplane {
namespace {

// The tooltip of a number: its known but unprinted parts.
std::string Hint(const Number& number) {
  const auto part = [](const char* label, const std::optional<double>& value) {
    return value && std::isfinite(*value) ? fmt::format(", {} {}", label, FormatNumber(Number{.value = *value}, 4)) : "";
  };
  std::string hint = number.of.empty() && number.n == 1 ? "" : fmt::format(", n {} {}", number.n, number.of);
  if (number.low && number.high && std::isfinite(*number.low) && std::isfinite(*number.high)) {
    hint += fmt::format(", 95 % interval {} to {}", FormatNumber(Number{.value = *number.low}, 4),
                        FormatNumber(Number{.value = *number.high}, 4));
  }
  hint += part("sd", number.sd) + part("p95", number.p95) + part("max", number.max);
  return hint.empty() ? "" : " title=\"" + HtmlText(hint.substr(2)) + "\"";
}

std::string NumberCell(const Number& number, const CellText& cell) {
  const std::string interval =
      cell.number.interval.empty() ? "" : " <span class=\"spread\">" + cell.number.interval + "</span>";
  return fmt::format("<td class=\"num\" data-v=\"{}\"{}>{}{}{}</td>",
                     std::isfinite(number.value) ? fmt::format("{}", number.value) : "NaN", Hint(number), cell.number.value,
                     interval, cell.sample.empty() ? "" : "<span class=\"sample\">" + HtmlText(cell.sample) + "</span>");
}

// Breaks a setting's name between words first. A word that is too long breaks after an underscore or a path's dot, but never in
// a number. So its column stays narrow.
std::string NameHtml(const std::string& name) {
  std::string html;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    html += html.empty() ? "<span>" : " <span>";
    const std::string text = HtmlText(word);
    for (size_t i = 0; i < text.size(); ++i) {
      const bool path_goes_on = text[i] == '.' && i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i + 1]));
      html += text[i];
      html += text[i] == '_' || path_goes_on ? "<wbr>" : "";
    }
    html += "</span>";
  }
  return html;
}

// Columns with long texts, such as the reason of a failure, appear in an extra line below the row.
bool HoldsSentences(const TableText& table, size_t column) {
  constexpr size_t kLongestInCell = 40;
  return column > 0 && table.columns[column].column->in_text &&
         std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const std::vector<CellText>& row) { return Columns(row[column].text) > kLongestInCell; });
}

struct Layout {
  const TableText& text;
  std::vector<size_t> columns, sentences;  // of text.columns
  const std::filesystem::path& page;
};

// Links to the file or folder `name` in the column's folder if it exists: an unstarted trial has none. Prefers the folder's
// page.
std::string LinkHtml(const std::string& name, const std::string& html, const Column& column,
                     const std::filesystem::path& page) {
  const std::filesystem::path file = std::filesystem::path(column.folder) / name;
  if (!std::filesystem::exists(file)) return html;
  const bool has_page = std::filesystem::exists(file / kPageName);
  return fmt::format("<a href=\"{}{}\">{}</a>", HtmlLink(file, page), has_page ? std::string("/") + kPageName : "/", html);
}

// Turns words that name files into links.
std::string WordsHtml(const std::string& text, const Column& column, const std::filesystem::path& page) {
  if (column.folder.empty() || page.empty()) return HtmlText(text);
  std::string html;
  std::istringstream words(text);
  for (std::string word; words >> word;) html += (html.empty() ? "" : " ") + LinkHtml(word, HtmlText(word), column, page);
  return html;
}

std::string KeyHtml(const std::string& name, const Column& column, const std::filesystem::path& page) {
  return column.folder.empty() || page.empty() ? NameHtml(name) : LinkHtml(name, NameHtml(name), column, page);
}

std::string RowHtml(const std::vector<Cell>& cells, const Layout& layout, size_t row) {
  const TableText& table = layout.text;
  std::string html = table.emphasised[row] ? "<tr class=\"emphasised\">" : "<tr>";
  for (const size_t i : layout.columns) {
    const size_t index = table.columns[i].index;
    const Number* number = index < cells.size() ? std::get_if<Number>(&cells[index]) : nullptr;
    const std::string text = table.rows[row][i].Whole();
    html += i == 0              ? "<th scope=\"row\">" + KeyHtml(text, *table.columns[i].column, layout.page) + "</th>"
            : number != nullptr ? NumberCell(*number, table.rows[row][i])
                                : (table.columns[i].is_numeric ? "<td class=\"num\">" : "<td>") +
                                      WordsHtml(text, *table.columns[i].column, layout.page) + "</td>";
  }
  html += "</tr>\n";
  for (const size_t i : layout.sentences) {
    if (!table.rows[row][i].text.empty()) {
      html += fmt::format("<tr class=\"more\"><td colspan=\"{}\"><span><b>{}:</b> {}</span></td></tr>\n", layout.columns.size(),
                          HtmlText(table.columns[i].heading), HtmlText(table.rows[row][i].text));
    }
  }
  return html;
}

std::string Head(const Layout& layout) {
  std::string html;
  for (const size_t i : layout.columns) {
    const TableColumnText& column = layout.text.columns[i];
    // The first click sorts the best to the top.
    const char* first = column.column->direction > 0 ? "descending" : "ascending";
    html += fmt::format(
        "<th scope=\"col\" aria-sort=\"none\" data-key=\"{}\" data-first=\"{}\"{}{}{}>{}</th>", HtmlText(column.column->key),
        first, column.column->in_text ? "" : " data-more", column.is_numeric ? " class=\"num\"" : "",
        column.column->doc.empty() ? "" : " title=\"" + HtmlText(column.column->doc) + "\"", HtmlText(column.heading));
  }
  return "<thead><tr>" + html + "</tr></thead>\n";
}

std::string Meanings(const TableText& table) {
  std::string html;
  for (const TableColumnText& column : table.columns) {
    if (!column.column->doc.empty()) {
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", HtmlText(column.heading), HtmlText(column.column->doc));
    }
  }
  return html.empty() ? ""
                      : "<details class=\"fold meanings\"><summary>What the columns mean</summary>\n<dl class=\"facts\">\n" +
                            html + "</dl></details>\n";
}

}  // namespace

std::string HtmlTable(const Table& table, const std::filesystem::path& folder) {
  const TableText text = TextOf(table, /*narrow=*/false);
  Layout layout{text, {}, {}, folder};
  for (size_t i = 0; i < text.columns.size(); ++i) {
    (HoldsSentences(text, i) ? layout.sentences : layout.columns).push_back(i);
  }
  std::string rows;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    rows += RowHtml(table.rows[row], layout, row);
  }
  const std::string label = HtmlText(table.title.empty() ? table.id : table.title);
  std::string html = table.title.empty() ? "" : "<p class=\"table-title\">" + label + "</p>\n";
  html += fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\"><table class=\"sortable\" data-id=\"{}\">\n",
      label, HtmlText(table.id));
  html += Head(layout) + "<tbody>\n" + rows + "</tbody></table></div>\n";
  for (const std::string& note : text.notes) {
    html += "<p class=\"note\">" + HtmlText(note) + "</p>\n";
  }
  return html + Meanings(text);
}

}  // namespace backplane
