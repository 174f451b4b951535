// --make: turns results folders into figures, tables and findings.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/colour.hpp"
#include "base/json_text.hpp"
#include "base/shell_argument.hpp"
#include "base/text_columns.hpp"
#include "commands/commands.hpp"
#include "commands/page.hpp"
#include "commands/screen_text.hpp"
#include "kinds/build_report.hpp"
#include "text/change_arguments.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

constexpr size_t kWidth = 80, kShownFindings = 3;

class Wrap {
 public:
  explicit Wrap(size_t screen) : width_(std::min(kWidth, screen)) {}
  std::string operator()(const std::string& text, const std::string& first, const std::string& next) const {
    return WrapAfter(first, next, text, width_ - next.size());
  }

 private:
  size_t width_;
};

const Diagnosis* DiagnosisOf(const Document& document) {
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      if (const auto* list = std::get_if<FindingList>(&block)) return &list->diagnosis;
    }
  }
  return nullptr;
}

Tone ToneOf(Severity severity) {
  return severity == Severity::kSerious ? Tone::kBad : severity == Severity::kWarning ? Tone::kWarning : Tone::kFaint;
}

std::string FindingText(const Finding& finding, const Wrap& wrapped, bool colour) {
  const std::string severity = SeverityName(finding.severity);
  std::string text = wrapped(fmt::format("{}: {}", severity, finding.title), "  - ", "    ");
  if (colour) text.replace(text.find(severity), severity.size(), Toned(severity, ToneOf(finding.severity)));
  if (!finding.fixes.empty()) {
    const Fix& fix = finding.fixes.front();
    // Commands are to be copied, so do not break them.
    text += fmt::format("      {}\n      try {}\n", ChangeText(fix), ChangeCommand(fix));
  }
  return text;
}

std::string FindingsText(const std::vector<Finding>& findings, const Wrap& wrapped, bool colour) {
  std::string text = findings.empty() ? "" : "  findings:\n";
  for (size_t i = 0; i < findings.size() && i < kShownFindings; ++i) text += FindingText(findings[i], wrapped, colour);
  if (findings.size() > kShownFindings)
    text += fmt::format("    and {} more in the report\n", findings.size() - kShownFindings);
  return text;
}

std::string FilesText(const MadeReport& made) {
  std::string text = "  report:\n";
  if (!made.page_of.empty()) text += "    " + (made.page_of / kPageName).string() + "\n";
  for (const auto& file : made.written.files) {
    const std::string kind = file.extension();
    if (kind == ".html" || kind == ".png" || kind == ".md" || kind == ".yaml") text += "    " + file.string() + "\n";
  }
  return text;
}

// The headline, a subtitle, the main table, further verdicts, the first findings, all paths, and the next commands.
std::string ReportText(const MadeReport& made, const ReportRequest& request) {
  const std::vector<std::string>& verdict = made.document.verdict;
  const Wrap wrapped(request.width);
  const bool is_void = made.document.is_void;
  const Diagnosis* diagnosis = is_void ? nullptr : DiagnosisOf(made.document);
  std::string text = verdict.empty() ? "" : wrapped(verdict[0], "", "  ");
  if (request.colour) text = Toned(text, is_void ? Tone::kWarning : Tone::kStrong);
  text += wrapped(request.below.empty() ? made.document.title : request.below, "  ", "    ") + "\n";
  text += ScreenText(MainTable(made.document), request.width, request.colour) + "\n";
  const auto has_command = [&](const std::string& sentence) {  // which is pasted
    return sentence.find(request.program + ' ') != std::string::npos;
  };
  for (size_t i = 1; i < verdict.size(); ++i)
    text += has_command(verdict[i]) ? "  " + verdict[i] + "\n" : wrapped(verdict[i], "  ", "    ");
  if (diagnosis) text += FindingsText(diagnosis->findings, wrapped, request.colour);
  text += FilesText(made);
  for (const std::string& note : made.written.notes) text += "  note: " + note + "\n";
  if (!is_void && !made.document.attachments.empty()) {
    const Attachment& attachment = made.document.attachments.front();
    text += fmt::format("  next:   {} run {}{}\n", request.program, ShellArgument((made.folder / attachment.name).string()),
                        StartedWith(attachment.text));
  }
  if (diagnosis && diagnosis->Lead())
    text += fmt::format("  why:    {} report --explain {}\n", request.program, diagnosis->Lead()->id);
  return text;
}

}  // namespace

int MakeCommand(const nlohmann::json& json) {
  const auto request = RecordFromJson<ReportRequest>(json);
  const MadeReport made = MakeReport(request);
  if (!made.page_of.empty()) WritePage(made, made.page_of);
  if (request.form == "page") {
    if (!made.page_of.empty()) std::printf("%s\n", (made.page_of / kPageName).c_str());
  } else if (request.form == "json") {
    std::printf("%s\n", JsonText(ToJson(made.document), 1).c_str());
  } else if (request.form == "line") {
    std::printf("report in %s\n", made.folder.c_str());
  } else {
    std::fputs(ReportText(made, request).c_str(), stdout);
  }
  return 0;
}

}  // namespace backplane
