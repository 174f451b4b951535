#include <fmt/format.h>
#include <fmt/ranges.h>

#include "render/finding_text.hpp"
#include "render/html_text.hpp"
#include "text/change_arguments.hpp"

namespace backplane {
namespace {

constexpr size_t kOneLine = 40;  // characters of a fact that fit next to its label

std::string Fact(const std::string& label, const std::string& html) {
  return html.empty() ? "" : "<dt>" + label + "</dt><dd>" + html + "</dd>\n";
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines) {
    html += (html.empty() ? "" : "<br>") + HtmlText(line);
  }
  return html;
}

std::string FindingHtml(const Finding& finding) {
  std::vector<std::string> evidence;
  for (const Evidence& one : finding.evidence) {
    evidence.push_back(EvidenceText(one));
  }
  std::string changes;
  for (const Fix& fix : finding.fixes) {
    changes += changes.empty() ? "" : "<p class=\"or\">or</p>\n";
    changes += "<p>" + HtmlText(ChangeText(fix)) + "</p>\n" + HtmlSnippet(ChangeCommand(fix));
  }
  const char* severity = SeverityName(finding.severity);
  std::string html = fmt::format(
      "<details class=\"finding {0}\"><summary><h3><span class=\"severity\">{0}</span> {1}</h3></summary>\n"
      "<div class=\"sides\">\n<dl>\n",
      severity, HtmlText(finding.title));
  const std::string settings = fmt::format("{}", fmt::join(finding.settings, ", "));
  html += Fact("seen in", settings.size() <= kOneLine ? HtmlText(settings) : Lines(finding.settings));
  html += Fact("evidence", Lines(evidence));
  html += Fact("cause", HtmlText(finding.cause));
  html += Fact("confidence", HtmlText(finding.confidence));
  html += Fact("rule", "<code>" + HtmlText(finding.id) + "</code>");
  html += "</dl>\n<dl>\n" + Fact("change", changes) + Fact("expected", HtmlText(finding.effect));
  return html + "</dl>\n</div>\n</details>\n";
}

}  // namespace

std::string HtmlFindings(const Diagnosis& diagnosis) {
  std::string html;
  for (const Finding& finding : diagnosis.findings) {
    html += FindingHtml(finding);
  }
  if (diagnosis.findings.empty()) {
    html += "<p class=\"well\">No rule has found anything to change.</p>\n";
  }
  if (diagnosis.silent.empty()) {
    return html;
  }
  html += fmt::format("<details class=\"fold\"><summary>Rules that stayed silent: {}</summary>\n<dl class=\"facts\">\n",
                      diagnosis.silent.size());
  for (const SilentRule& rule : diagnosis.silent) {
    html += "<dt><code>" + HtmlText(rule.id) + "</code></dt><dd>" + HtmlText(rule.why) + "</dd>\n";
  }
  return html + "</dl></details>\n";
}

}  // namespace backplane
