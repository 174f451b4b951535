#include <fmt/format.h>

#include <algorithm>

#include "page/page_assets.hpp"
#include "render/document.hpp"
#include "render/html_text.hpp"

namespace backplane {
namespace {

struct BlockHtml {
  const Document& document;
  const Drawings& drawings;

  std::string operator()(const Paragraph& block) const { return "<p>" + HtmlText(block.text) + "</p>\n"; }
  std::string operator()(const BulletList& block) const {
    std::string items;
    for (const std::string& item : block.items) {
      items += "<li>" + HtmlText(item) + "</li>\n";
    }
    return "<ul>\n" + items + "</ul>\n";
  }
  std::string operator()(const FactList& block) const {
    std::string facts;
    for (const auto& [label, value] : block.facts) {
      facts += "<dt>" + HtmlText(label) + "</dt><dd>" + HtmlText(value) + "</dd>\n";
    }
    return "<dl class=\"facts\">\n" + facts + "</dl>\n";
  }
  std::string operator()(const CommandList& block) const {
    std::string commands;
    for (const auto& [what, command] : block.commands) {
      commands += "<p class=\"what\">" + HtmlText(what) + "</p>\n" + HtmlSnippet(command);
    }
    return commands;
  }
  std::string operator()(const CodeBlock& block) const { return HtmlCode(block.title, block.text); }
  std::string operator()(const FigureUse& block) const {
    const auto figure = std::find_if(document.figures.begin(), document.figures.end(),
                                     [&](const Figure& one) { return one.name == block.name; });
    return figure != document.figures.end() ? HtmlFigure(*figure, drawings) : "";
  }
  std::string operator()(const FilmUse& block) const { return HtmlFilm(block); }
  std::string operator()(const FindingList& block) const { return HtmlFindings(block.diagnosis); }
  std::string operator()(const Table& block) const { return HtmlTable(block); }
};

// The first sentence answers the question and stands before all else, the title too.
std::string Headline(const std::vector<std::string>& sentences) {
  return sentences.empty() ? "" : "<p class=\"lead\">" + HtmlText(sentences[0]) + "</p>\n";
}

std::string Verdict(const std::vector<std::string>& sentences) {
  std::string rest;
  for (size_t i = 1; i < sentences.size(); ++i) {
    rest += "<li>" + HtmlText(sentences[i]) + "</li>\n";
  }
  return rest.empty() ? "" : "<div class=\"verdict\">\n<ul>\n" + rest + "</ul>\n</div>\n";
}

std::string AttachmentsHtml(const std::vector<Attachment>& attachments) {
  std::string html;
  for (const Attachment& attachment : attachments) {
    html += HtmlCode(attachment.name, attachment.text);
  }
  return html.empty() ? "" : "<section id=\"files\">\n<h2>Files beside this report</h2>\n" + html + "</section>\n";
}

}  // namespace

std::string RenderHtml(const Document& document, const Drawings& drawings) {
  const BlockHtml block_html{document, drawings};
  std::string links, sections;
  for (const Section& section : document.sections) {
    const std::string id = HtmlId(section.id), title = HtmlText(section.title);
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, title);
    sections += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", id, title);
    for (const Block& block : section.blocks) {
      sections += std::visit(block_html, block);
    }
    sections += "</section>\n";
  }
  const std::string attachments = AttachmentsHtml(document.attachments);
  links += attachments.empty() ? "" : "<li><a href=\"#files\">Files</a></li>\n";
  const std::string title = (document.verdict.empty() ? "" : document.verdict[0] + " · ") + document.title;
  // The policy holds the page to what stands in it: it can load nothing, whatever a text within might ask for.
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<title>" + HtmlText(title) + "</title>\n<style>\n" + kPageCss + "</style>\n</head>\n<body>\n";
  html += "<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n" + Headline(document.verdict) + "<h1>" +
          HtmlText(document.title) + "</h1>\n";
  html += document.made_at.empty() ? "" : "<p class=\"made\">" + HtmlText(document.made_at) + "</p>\n";
  html += Verdict(document.verdict);
  html += "<nav aria-label=\"Sections\"><ul>\n" + links + "</ul></nav>\n</header>\n";
  html += "<main id=\"main\">\n" + sections + attachments + "</main>\n";
  html += HtmlScript(drawings.javascript);
  return html + "<script>\n" + kPageJs + kFilmJs + "</script>\n</body>\n</html>\n";
}

}  // namespace backplane
