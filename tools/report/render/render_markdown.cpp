#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "render/document.hpp"
#include "render/file_link.hpp"
#include "render/finding_text.hpp"
#include "render/html_text.hpp"
#include "render/markdown_text.hpp"
#include "text/change_arguments.hpp"
#include "text/table_text.hpp"
#include "text/text_lines.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

std::string MarkdownBullets(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += "- " + MarkdownText(item) + "\n";
  }
  return text;
}

std::string TableLine(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += " " + cell + (cell.empty() ? "|" : " |");
  }
  return line + "\n";
}

// Keeps the line breaks of a traceback.
std::string CellMarkdown(const std::string& text) {
  std::string lines;
  for (const std::string& line : PrintableLines(text)) lines += (lines.empty() ? "" : "<br>") + MarkdownText(line);
  return lines;
}

std::string FindingMarkdown(const Finding& finding) {
  std::string text = fmt::format("### {}: {}\n\n", SeverityName(finding.severity), MarkdownText(finding.title));
  const auto labelled = [&](const std::string& label, const std::string& value) {
    text += value.empty() ? "" : "- **" + label + "** " + value + "\n";
  };
  labelled("rule", MarkdownCode(finding.id));
  std::string seen;
  for (const std::string& setting : finding.settings) {
    seen += (seen.empty() ? "" : ", ") + MarkdownText(setting);
  }
  labelled("seen in", seen);
  for (const Evidence& evidence : finding.evidence) {
    labelled("evidence", MarkdownText(EvidenceText(evidence)));
  }
  labelled("cause", MarkdownText(finding.cause));
  labelled("expected", MarkdownText(finding.effect));
  labelled("confidence", MarkdownText(finding.confidence));
  for (size_t i = 0; i < finding.fixes.size(); ++i) {
    text += fmt::format("\n{}: {}\n\n", i == 0 ? "Change" : "Or", MarkdownCode(ChangeText(finding.fixes[i]))) +
            MarkdownFence("sh", ChangeCommand(finding.fixes[i]) + "\n");
  }
  return text;
}

struct BlockMarkdown {
  const Document& document;
  const Drawings& drawings;

  std::string operator()(const Paragraph& block) const { return MarkdownText(block.text) + "\n"; }
  std::string operator()(const BulletList& block) const { return MarkdownBullets(block.items); }
  std::string operator()(const FactList& block) const {
    std::string text = "| | |\n|---|---|\n";
    for (const auto& [label, value] : block.facts) {
      text += TableLine({MarkdownText(label), MarkdownText(value)});
    }
    return text;
  }
  std::string operator()(const CommandList& block) const {
    std::string text;
    for (const auto& [what, command] : block.commands) {
      text += (text.empty() ? "" : "\n") + MarkdownText(what) + "\n\n" + MarkdownFence("sh", OneLine(command) + "\n");
    }
    return text;
  }
  std::string operator()(const CodeBlock& block) const {
    return "<details><summary>" + HtmlText(block.title) + "</summary>\n\n" + MarkdownFence(block.language, block.text) +
           "\n</details>\n";
  }
  std::string operator()(const FigureUse& block) const {
    std::string alt;
    for (const Figure& figure : document.figures) {
      alt += figure.name == block.name ? figure.alt : "";
    }
    if (const auto why_not = drawings.missing.find(block.name); why_not != drawings.missing.end())
      return MarkdownText(alt) + ": " + MarkdownText(why_not->second) + "\n";
    return "![" + MarkdownText(alt) + "](" + FileLink(block.name + ".png") + ")\n";
  }
  std::string operator()(const FilmUse& block) const {
    return MarkdownText("Film of " + block.title + ": " + block.file) + "\n";
  }
  std::string operator()(const FindingList& block) const {
    std::string text = block.diagnosis.findings.empty() ? "No rule has found anything to change.\n" : "";
    for (const Finding& finding : block.diagnosis.findings) {
      text += (text.empty() ? "" : "\n") + FindingMarkdown(finding);
    }
    if (block.diagnosis.silent.empty()) {
      return text;
    }
    text += fmt::format("\n<details><summary>Rules that stayed silent: {}</summary>\n\n", block.diagnosis.silent.size());
    for (const SilentRule& rule : block.diagnosis.silent) {
      text += "- " + MarkdownCode(rule.id) + ": " + MarkdownText(rule.why) + "\n";
    }
    return text + "\n</details>\n";
  }
  std::string operator()(const Table& block) const {
    const TableText table = TextOf(block, /*narrow=*/true);
    std::vector<std::string> headings, rules;
    for (const TableColumnText& column : table.columns) {
      headings.push_back(MarkdownText(column.heading));
      rules.push_back(column.is_numeric ? "---:" : "---");
    }
    std::string text = block.title.empty() ? "" : "**" + MarkdownText(block.title) + "**\n\n";
    text += TableLine(headings) + TableLine(rules);
    for (size_t row = 0; row < table.rows.size(); ++row) {
      std::vector<std::string> cells;
      for (const CellText& cell : table.rows[row]) {
        const std::string whole = CellMarkdown(cell.Whole());
        cells.push_back(table.emphasised[row] && !whole.empty() ? "**" + whole + "**" : whole);
      }
      text += TableLine(cells);
    }
    for (const std::string& note : table.notes) {
      text += "\n" + MarkdownText(note) + "\n";
    }
    return text;
  }
};

}  // namespace

std::string RenderMarkdown(const Document& document, const Drawings& drawings) {
  std::string text = "# " + MarkdownText(document.title) + "\n";
  for (size_t i = 0; i < document.verdict.size(); ++i) {
    const std::string sentence = MarkdownText(document.verdict[i]);
    text += (i < 2 ? "\n" : "") + (i == 0 ? "**" + sentence + "**" : "- " + sentence) + "\n";
  }
  const BlockMarkdown block_markdown{document, drawings};
  for (const Section& section : document.sections) {
    text += "\n## " + MarkdownText(section.title) + "\n";
    for (const Block& block : section.blocks) {
      text += "\n" + std::visit(block_markdown, block);
    }
  }
  if (!document.attachments.empty()) {
    text += "\n## Files next to this report\n\n";
  }
  for (const Attachment& attachment : document.attachments) {
    text += "- [" + MarkdownText(attachment.name) + "](" + FileLink(attachment.name) + ")\n";
  }
  return document.made_at.empty() ? text : text + "\n" + MarkdownText(document.made_at) + "\n";
}

}  // namespace backplane
