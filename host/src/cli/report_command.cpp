// report: results folders to figures, tables and findings.
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/damage_text.hpp"
#include "cli/report_program.hpp"
#include "record/report_requests.hpp"
#include "store/batch_record.hpp"
#include "store/plan_file.hpp"
#include "store/results_folder.hpp"

namespace backplane {

int ReportCommand(const ReportArgs& args) {
  const ReportProgram program;
  if (!args.explain.empty()) return program.Show("--explain", ToJson(ExplainRequest{args.explain}));
  if (args.folders.empty()) {
    std::fprintf(stderr, "backplane: report wants a results folder, such as outputs/my_experiment\n");
    return kUsage;
  }
  ReportRequest request;
  for (const auto& folder : args.folders) {
    request.folders.push_back(folder);
    if (std::filesystem::exists(folder / "plan.jsonl")) continue;
    std::fprintf(stderr, "backplane: %s is no results folder: it has no plan.jsonl\n", folder.c_str());
    return kUsage;
  }
  request.to = args.to;
  request.kind = args.kind;
  request.program = args.typed_program;
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

}  // namespace backplane
