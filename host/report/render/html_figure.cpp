#include <fmt/format.h>

#include <algorithm>

#include "figures/svg_figure.hpp"
#include "render/html_text.hpp"

namespace backplane {
namespace {

// Each panel is a picture of its own, so that they flow into one column on a narrow page instead of shrinking.
Figure Alone(const Figure& figure, size_t index) {
  const size_t columns = std::max<size_t>(1, figure.columns);
  const size_t rows = (figure.panels.size() + columns - 1) / columns;
  Figure panel = figure;
  panel.name = fmt::format("{}-{}", figure.name, index + 1);
  panel.title = "";
  panel.columns = 1;
  panel.width = figure.width / static_cast<int>(columns);
  panel.height = figure.height / static_cast<int>(rows);
  panel.panels = {figure.panels[index]};
  return panel;
}

// A table of words is real text in a page.
std::string TextTableHtml(const Panel& panel) {
  std::string html;
  for (const std::string& cell : panel.table->header) {
    html += "<th scope=\"col\">" + HtmlText(cell) + "</th>";
  }
  html = "<thead><tr>" + html + "</tr></thead>\n<tbody>\n";
  for (size_t row = 0; row < panel.table->rows.size(); ++row) {
    const std::vector<size_t>& emphasised = panel.table->emphasised;
    html += std::count(emphasised.begin(), emphasised.end(), row) > 0 ? "<tr class=\"emphasised\">" : "<tr>";
    for (const std::string& cell : panel.table->rows[row]) {
      html += "<td>" + HtmlText(cell) + "</td>";
    }
    html += "</tr>\n";
  }
  html = "<div class=\"scroll\" role=\"region\" aria-label=\"" + HtmlText(panel.title) + "\" tabindex=\"0\"><table>\n" + html +
         "</tbody></table></div>\n";
  return panel.table->note.empty() ? html : html + "<p class=\"note\">" + HtmlText(panel.table->note) + "</p>\n";
}

}  // namespace

std::string HtmlFigure(const Figure& figure) {
  std::string panels, tables;
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    if (!figure.panels[i].table) {
      panels += "<div class=\"panel\">" + DrawSvg(Alone(figure, i)) + "</div>\n";
    } else if (figure.panels.size() == 1) {  // beside others it repeats the page's own table, for those who see the PNG only
      tables += TextTableHtml(figure.panels[i]);
    }
  }
  return fmt::format("<figure>\n<div class=\"panels\" style=\"--columns: {}\">\n", std::max<size_t>(1, figure.columns)) +
         panels + "</div>\n" + tables + "<figcaption>" + HtmlText(figure.alt) + "</figcaption>\n</figure>\n";
}

}  // namespace backplane
