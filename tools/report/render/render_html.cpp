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
  const Page& page;

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
  std::string operator()(const Table& block) const { return HtmlTable(block, page.folder); }
};

// The table of a figure's numbers is folded below it; the main table is not.
std::string BlocksHtml(const std::vector<Block>& blocks, const BlockHtml& block_html) {
  std::string html;
  bool drawn = false;
  for (const Block& block : blocks) {
    const Table* table = std::get_if<Table>(&block);
    const bool folds = drawn && table != nullptr && table->id != block_html.document.main_table && !table->title.empty();
    if (folds) html += "<details class=\"fold\"><summary>" + HtmlText(table->title) + "</summary>\n";
    html += std::visit(block_html, block);
    if (folds) html += "</details>\n";
    drawn = drawn || std::holds_alternative<FigureUse>(block);
  }
  return html;
}

// The first sentence answers the question, so it precedes everything, even the title.
std::string Headline(const std::vector<std::string>& sentences) {
  constexpr size_t kLargest = 120;  // characters in large type; a longer answer is a paragraph
  if (sentences.empty()) return "";
  return fmt::format("<p class=\"lead{}\">{}</p>\n", sentences[0].size() > kLargest ? " long" : "", HtmlText(sentences[0]));
}

std::string Verdict(const std::vector<std::string>& sentences) {
  std::string rest;
  for (size_t i = 1; i < sentences.size(); ++i) {
    rest += "<li>" + HtmlText(sentences[i]) + "</li>\n";
  }
  return rest.empty() ? "" : "<div class=\"verdict\">\n<ul>\n" + rest + "</ul>\n</div>\n";
}

std::string FilesHtml(const Document& document, const Page& page) {
  std::string links, html;
  for (const auto& [what, file] : page.files) {
    links += fmt::format("<li><a href=\"{}{}\">{}</a>{}</li>\n", HtmlLink(file, page.folder), is_directory(file) ? "/" : "",
                         HtmlText(file.filename().string()), what.empty() ? "" : " " + HtmlText(what));
  }
  if (!links.empty()) html += "<ul class=\"files\">\n" + links + "</ul>\n";
  for (const Attachment& attachment : document.attachments) html += HtmlCode(attachment.name, attachment.text);
  if (html.empty()) return "";
  return "<section id=\"files\">\n<details class=\"section\"><summary><h2>Files</h2></summary>\n" + html +
         "</details>\n</section>\n";
}

// The page's head for the list of experiments, which reads the first few kilobytes of each page.
std::string PageMeta(const Document& document) {
  std::string html;
  for (const auto& [name, text] : {std::pair{"verdict", document.verdict.empty() ? std::string() : document.verdict[0]},
                                   {"date", document.made_at},
                                   {"sparkline", document.sparkline},
                                   {"kind", document.kind}})
    html += fmt::format("<meta name=\"backplane-{}\" content=\"{}\">\n", name, HtmlText(text));
  return html;
}

std::string LiveHtml(const LivePart& live) {
  std::string curves = live.curves;
  for (size_t at = 0; (at = curves.find('<', at)) != std::string::npos;) curves.replace(at, 1, "\\u003c");  // closes no tag
  return fmt::format("<script type=\"application/json\" id=\"live\" data-every=\"{:.0f}\">{}</script>\n", live.every_s, curves);
}

}  // namespace

std::string RenderHtml(const Document& document, const Drawings& drawings, const Page& page) {
  const BlockHtml block_html{document, drawings, page};
  std::string links, sections;
  for (const Section& section : document.sections) {
    const std::string id = HtmlId(section.id), title = HtmlText(section.title);
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, title);
    const std::string heading = "<h2>" + title + "</h2>";
    sections += fmt::format("<section id=\"{}\">\n{}\n", id,
                            section.folded ? "<details class=\"section\"><summary>" + heading + "</summary>" : heading);
    sections += BlocksHtml(section.blocks, block_html);
    sections += section.folded ? "</details>\n</section>\n" : "</section>\n";
  }
  const std::string files = FilesHtml(document, page);
  links += files.empty() ? "" : "<li><a href=\"#files\">Files</a></li>\n";
  const std::string title = (document.verdict.empty() ? "" : document.verdict[0] + " · ") + document.title;
  // The policy blocks all loading, even if a text in the page requests it.
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += PageMeta(document);
  html += "<title>" + HtmlText(title) + "</title>\n<style>\n" + kPageCss + "</style>\n</head>\n<body>\n";
  html += "<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n" + Headline(document.verdict) + "<h1>" +
          HtmlText(document.title) + "</h1>\n";
  html += document.made_at.empty() ? "" : "<p class=\"made\">" + HtmlText(document.made_at) + "</p>\n";
  html += Verdict(document.verdict);
  html += "<nav aria-label=\"Sections\"><ul>\n" + links + "</ul></nav>\n</header>\n";
  html += "<main id=\"main\">\n" + sections + files + "</main>\n";
  html += HtmlScript(drawings.javascript);
  if (document.live) html += LiveHtml(*document.live);
  return html + "<script>\n" + kPageJs + kFilmJs + "</script>\n</body>\n</html>\n";
}

}  // namespace backplane
