#include <algorithm>

#include "base/text_columns.hpp"
#include "render/document.hpp"
#include "render/finding_text.hpp"
#include "text/change_arguments.hpp"
#include "text/text_lines.hpp"
#include "text/text_table.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kWidestLabel = 32;

std::string Underlined(const std::string& text, char rule) {
  const std::string lines = Hanging("", text, kWidth);
  if (text.empty()) return "";
  const size_t last = lines.rfind('\n', lines.size() - 2);
  const std::string line = lines.substr(last == std::string::npos ? 0 : last + 1);
  return lines + std::string(Columns(line) - 1, rule) + "\n";
}

std::string TextBullets(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += Hanging("- ", item, kWidth);
  }
  return text;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : ", ") + text;
  }
  return joined;
}

std::string FindingText(const Finding& finding) {
  const auto labelled = [](const std::string& label, const std::string& text) {
    return text.empty() ? "" : Hanging(PadRight("  " + label, 14), text, kWidth);
  };
  std::string text = Hanging(std::string("[") + SeverityName(finding.severity) + "] ", finding.title, kWidth);
  text += labelled("rule", finding.id) + labelled("seen in", Joined(finding.settings));
  for (size_t i = 0; i < finding.evidence.size(); ++i) {
    text += labelled(i == 0 ? "evidence" : "", EvidenceText(finding.evidence[i]));
  }
  text += labelled("cause", finding.cause);
  for (size_t i = 0; i < finding.fixes.size(); ++i) {
    const Fix& fix = finding.fixes[i];
    text += labelled(i == 0 ? "change" : "or", ChangeText(fix));
    text += FoldCommand(ChangeCommand(fix), std::string(14, ' '), kWidth);  // to be copied: no other breaks
  }
  return text + labelled("expected", finding.effect) + labelled("confidence", finding.confidence);
}

struct BlockText {
  const Document& document;
  const Drawings& drawings;

  std::string operator()(const Paragraph& block) const { return Hanging("", block.text, kWidth); }
  std::string operator()(const BulletList& block) const { return TextBullets(block.items); }
  std::string operator()(const FactList& block) const {
    size_t widest = 0;
    for (const auto& [label, value] : block.facts) {
      widest = std::max(widest, Columns(label));
    }
    std::string text;
    for (const auto& [label, value] : block.facts) {
      const size_t width = std::min(widest, kWidestLabel);
      text += Hanging(PadRight(CutMiddle(OneLine(label), width, /*utf8=*/true), width) + "  ", value, kWidth);
    }
    return text;
  }
  std::string operator()(const CommandList& block) const {
    std::string text;
    for (const auto& [what, command] : block.commands) {
      text += Hanging("", what, kWidth) + FoldCommand(command, "    ", kWidth);
    }
    return text;
  }
  std::string operator()(const CodeBlock& block) const {
    std::string text = block.title.empty() ? "" : Hanging("", block.title, kWidth) + "\n";
    for (size_t begin = 0; begin < block.text.size();) {
      const size_t end = std::min(block.text.find('\n', begin), block.text.size());
      text += "    " + block.text.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    return text;
  }
  std::string operator()(const FigureUse& block) const {
    std::string alt;
    for (const Figure& figure : document.figures) {
      alt += figure.name == block.name ? figure.alt : "";
    }
    const auto why_not = drawings.missing.find(block.name);
    const std::string place = why_not == drawings.missing.end() ? block.name + ".png" : why_not->second;
    return Hanging("", "[figure " + place + "] " + alt, kWidth);
  }
  std::string operator()(const FilmUse& block) const { return Hanging("", "[film " + block.file + "] " + block.title, kWidth); }
  std::string operator()(const FindingList& block) const {
    std::string text = block.diagnosis.findings.empty() ? "No rule has found anything to change.\n" : "";
    for (const Finding& finding : block.diagnosis.findings) {
      text += (text.empty() ? "" : "\n") + FindingText(finding);
    }
    if (!block.diagnosis.silent.empty()) {
      text += "\nRules that stayed silent:\n";
    }
    for (const SilentRule& rule : block.diagnosis.silent) {
      text += Hanging("- " + OneLine(rule.id) + ": ", rule.why, kWidth);
    }
    return text;
  }
  std::string operator()(const Table& block) const { return FormatTextTable(block, kWidth); }
};

}  // namespace

std::string RenderText(const Document& document, const Drawings& drawings) {
  std::string text = document.verdict.empty() ? "" : Hanging("", document.verdict[0], kWidth) + "\n";
  text += Underlined(document.title, '=');
  text += document.made_at.empty() ? "" : Hanging("", document.made_at, kWidth);
  for (size_t i = 1; i < document.verdict.size(); ++i) {
    text += (i == 1 ? "\n" : "") + Hanging("- ", document.verdict[i], kWidth);
  }
  const BlockText block_text{document, drawings};
  for (const Section& section : document.sections) {
    text += "\n\n" + Underlined(section.title, '-');
    for (const Block& block : section.blocks) {
      text += "\n" + std::visit(block_text, block);
    }
  }
  if (!document.attachments.empty()) {
    text += "\n\n" + Underlined("Files next to this report", '-') + "\n";
  }
  for (const Attachment& attachment : document.attachments) {
    text += Hanging("- ", attachment.name, kWidth);
  }
  return text;
}

}  // namespace backplane
