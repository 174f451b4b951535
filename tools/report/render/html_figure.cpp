#include <fmt/format.h>

#include "base/json_text.hpp"
#include "render/html_text.hpp"

namespace backplane {

void ReplaceAll(const std::string& from, const std::string& to, std::string* text) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) text->replace(at, from.size(), to);
}

namespace {

// A page has several drawings: make their ids unique.
std::string WithOwnIds(std::string svg, const std::string& name) {
  const std::string prefix = HtmlId(name) + "-";
  for (const char* before : {"id=\"", "url(#", "href=\"#"}) ReplaceAll(before, before + prefix, &svg);
  return svg;
}

const char* PicksAttribute(Figure::Picks picks) {
  switch (picks) {
    case Figure::Picks::kSeries: return " data-picks=\"series\"";
    case Figure::Picks::kPanels: return " data-picks=\"panels\"";
    default: return "";
  }
}

}  // namespace

std::string HtmlFigure(const Figure& figure, const Drawings& drawings) {
  const std::string caption = "<figcaption>" + HtmlText(figure.alt) + "</figcaption>\n</figure>\n";
  const auto drawn = drawings.svg.find(figure.name);
  if (drawn == drawings.svg.end() && drawings.javascript.empty()) {
    const auto why = drawings.missing.find(figure.name);
    return "<figure>\n<p class=\"note\">" + HtmlText(why == drawings.missing.end() ? "not drawn" : why->second) + "</p>\n" +
           caption;
  }
  std::string specification = JsonText(Specification(figure));
  ReplaceAll("<", "\\u003c", &specification);  // so that it cannot close the element
  return fmt::format("<figure class=\"figure\" data-name=\"{}\"{}>\n<div class=\"drawn\" role=\"img\" aria-label=\"{}\">",
                     HtmlText(figure.name), PicksAttribute(figure.picks), HtmlText(figure.alt)) +
         (drawn != drawings.svg.end() ? WithOwnIds(drawn->second, figure.name) : "") +
         "</div>\n<script type=\"application/json\">" + specification + "</script>\n" + caption;
}

std::string HtmlScript(std::string javascript) {
  if (javascript.empty()) return "";
  ReplaceAll("</script", "<\\/script", &javascript);
  ReplaceAll("<!--", "<\\!--", &javascript);
  return "<script>\n" + javascript + "\n</script>\n";
}

}  // namespace backplane
