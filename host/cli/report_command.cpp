// report: results folders to figures, tables and findings.

#include "cli/commands.hpp"
#include "cli/damage_text.hpp"
#include "input/foreign_runs.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/batch_record.hpp"
#include "record/not_results.hpp"
#include "record/plan_file.hpp"
#include "record/report_kinds.hpp"
#include "record/report_requests.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

struct ReportArgs {
  std::vector<std::filesystem::path> folders;  // of results
  std::filesystem::path to;                    // empty: the folder that belongs to them
  std::string kind;                            // empty: report.kind of the experiment
  std::string typed_program;
  std::string explain;  // id of a finding: explain it and do nothing else
  bool json = false, quiet = false;
};

int ReportCommand(const ReportArgs& given) {
  ReportArgs args = given;
  // A pattern such as outputs/study/* also matches the page of the folders.
  if (args.folders.size() > 1)
    std::erase_if(args.folders, [](const std::filesystem::path& folder) { return folder.filename() == "index.html"; });
  const ReportProgram program;
  if (!args.explain.empty()) return program.Show("--explain", ToJson(ExplainRequest{args.explain}));
  if (args.folders.empty()) {
    LogError("backplane: report: expected a results folder, got none\nhint: backplane report outputs/NAME");
    return kUsage;
  }
  if (!ReplaceForeign(&args.folders, args.typed_program)) return kUsage;
  ReportRequest request = RequestFor(args.folders.front(), args.typed_program);
  request.folders.assign(args.folders.begin(), args.folders.end());
  for (const auto& folder : args.folders) {
    if (std::filesystem::exists(ResultsFolder{folder}.plan())) continue;
    LogError("backplane: {}", NotResults(folder));
    return kUsage;
  }
  request.to = args.to;
  request.kind = args.kind;
  if (args.json || args.quiet) request.form = args.json ? "json" : "line";
  request.width = ReportWidth();
  if (const int code = program.Show("--make", ToJson(request)); code != kOk) return code;
  bool damaged = false;
  for (const auto& folder : args.folders) {
    const ResultsFolder results{folder};
    damaged |= SayDamage(DamageIn(results, ReadBatchRecord(results.events()), ReadPlanFile(results.plan())));
  }
  return damaged ? kFailed : kOk;
}

}  // namespace

std::vector<Command> ReportCommands() {
  const auto declare = [](ReportArgs* args, Arguments* add) {
    args->typed_program = add->program();
    add->Add("out", "OUT|PATH", &args->folders, "Results folders, or runs of other tools; several are combined");
    add->Add("--to", "DIR", &args->to, "Folder to write to instead of output.report_dir or OUT/report");
    std::vector<std::string> kinds;
    for (const ReportKind& kind : kReportKinds) kinds.emplace_back(kind.name);
    add->Add("--kind", "KIND", &args->kind, "Kind of report, instead of report.kind").OneOf(kinds);
    add->Add("--explain", "FINDING", &args->explain, "Explain a finding by its id; `list` prints all ids");
    add->Flag("--json", &args->json, "Print the report as JSON");
    add->Flag("-q,--quiet", &args->quiet, "Print one line at the end");
  };
  return {MakeCommand<ReportArgs>("report", "Write a report with figures, tables and findings", declare, ReportCommand)};
}

}  // namespace backplane
