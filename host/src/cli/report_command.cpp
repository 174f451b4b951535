// report: results folders to figures, tables and findings.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "base/json_text.hpp"
#include "base/shell_argument.hpp"
#include "base/suggest.hpp"
#include "base/text_columns.hpp"
#include "cli/batch_text.hpp"
#include "cli/damage_text.hpp"
#include "cli/report_text.hpp"
#include "cli/screen_table.hpp"
#include "report/finding_text.hpp"

namespace backplane {
namespace {

constexpr size_t kWidth = 80, kShownFindings = 3;

std::string Wrapped(const std::string& text, const std::string& first, const std::string& next) {
  std::string result;
  for (const std::string& line : WrapWords(text, kWidth - first.size())) {
    result += (result.empty() ? first : next) + line + "\n";
  }
  return result;
}

const Diagnosis* DiagnosisOf(const Document& document) {
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      if (const auto* list = std::get_if<FindingList>(&block)) return &list->diagnosis;
    }
  }
  return nullptr;
}

std::string FindingText(const Finding& finding) {
  std::string text = Wrapped(fmt::format("{}: {}", SeverityName(finding.severity), finding.title), "  - ", "    ");
  if (!finding.fixes.empty()) {
    const Fix& fix = finding.fixes.front();
    // To be copied: broken nowhere.
    text += fmt::format("      {}\n      try {}\n", ChangeText(fix), ChangeCommand(fix));
  }
  return text;
}

int ExplainFinding(const std::string& id) {
  if (const std::optional<std::string> text = Explain(id)) {
    std::fputs(text->c_str(), stdout);
    return kOk;
  }
  std::vector<std::string> ids;
  for (const RuleInfo& rule : FindingRules()) ids.push_back(rule.id);
  if (id == "list") {
    for (const RuleInfo& rule : FindingRules()) std::printf("%-20s %s\n", rule.id.c_str(), rule.fires_when.c_str());
    return kOk;
  }
  std::fprintf(stderr, "backplane: there is no finding '%s'%s; --explain list names them all\n", id.c_str(),
               DidYouMean(Nearest(id, Candidates(ids))).c_str());
  return kUsage;
}

}  // namespace

std::string ReportText(const MadeReport& made, const std::string& below, const std::string& program) {
  const std::vector<std::string>& verdict = made.document.verdict;
  std::string text = verdict.empty() ? "" : Wrapped(verdict[0], "", "  ");
  text += Wrapped(below, "  ", "    ") + "\n";
  text += ScreenText(MainTable(made.document)) + "\n";
  for (size_t i = 1; i < verdict.size(); ++i) text += Wrapped(verdict[i], "  ", "    ");
  if (const Diagnosis* diagnosis = DiagnosisOf(made.document)) {
    if (!diagnosis->findings.empty()) text += "  findings:\n";
    for (size_t i = 0; i < diagnosis->findings.size() && i < kShownFindings; ++i) text += FindingText(diagnosis->findings[i]);
    if (diagnosis->findings.size() > kShownFindings)
      text += fmt::format("    and {} more in the report\n", diagnosis->findings.size() - kShownFindings);
  }
  text += "  report:\n";
  for (const auto& file : made.written.files) {
    const std::string kind = file.extension();
    if (kind == ".html" || kind == ".png" || kind == ".md" || kind == ".yaml") text += "    " + file.string() + "\n";
  }
  for (const std::string& note : made.written.notes) text += "  note: " + note + "\n";
  for (const Attachment& attachment : made.document.attachments) {
    text +=
        fmt::format("  next:   {} run {} {}\n", program, ShellArgument((made.folder / attachment.name).string()), kSomeBudget);
    break;
  }
  if (const Diagnosis* diagnosis = DiagnosisOf(made.document); diagnosis && diagnosis->Lead())
    text += fmt::format("  why:    {} report --explain {}\n", program, diagnosis->Lead()->id);
  return text;
}

std::optional<MadeReport> MakeReportAfterRun(const BatchRequest& request, const BatchReport& batch, const RunArgs& args) {
  const ReportConfig& report = request.plan.base.experiment.report;
  if (!report.kind || !batch.refused.empty()) return std::nullopt;
  if (batch.Count(TrialState::kPlanned) == batch.trials.size()) return std::nullopt;
  try {
    return MakeReport({{request.out}, {}, "", args.typed_program});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane: no report was written: %s\n  later: %s report %s\n", error.what(),
                 args.typed_program.c_str(), ShellArgument(request.out.string()).c_str());
    return std::nullopt;
  }
}

int ReportCommand(const ReportArgs& args) {
  if (!args.explain.empty()) return ExplainFinding(args.explain);
  if (args.folders.empty()) {
    std::fprintf(stderr, "backplane: report wants a results folder, such as outputs/my_experiment\n");
    return kUsage;
  }
  for (const auto& folder : args.folders) {
    if (std::filesystem::exists(ResultsFolder{folder}.plan())) continue;
    std::fprintf(stderr, "backplane: %s is no results folder: it has no %s\n", folder.c_str(), kPlanName);
    return kUsage;
  }
  const MadeReport made = MakeReport({args.folders, args.to, args.kind, args.typed_program});
  if (args.json) {
    std::printf("%s\n", JsonText(ToJson(made.document), 1).c_str());
  } else if (args.quiet) {
    std::printf("report in %s\n", made.folder.c_str());
  } else {
    std::fputs(ReportText(made, made.document.title, args.typed_program).c_str(), stdout);
  }
  bool damaged = false;
  for (const auto& folder : args.folders) {
    const ResultsFolder results{folder};
    damaged |= SayDamage(DamageIn(results, ReadBatchRecord(results.events()), ReadPlanFile(results.plan())));
  }
  return damaged ? kFailed : kOk;
}

}  // namespace backplane
