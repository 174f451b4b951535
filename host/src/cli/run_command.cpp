#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/json_text.hpp"
#include "cli/apply_finding.hpp"
#include "cli/batch_text.hpp"
#include "cli/commands.hpp"
#include "cli/dry_run.hpp"
#include "cli/load_file.hpp"
#include "cli/plugin_check.hpp"
#include "cli/preset_places.hpp"
#include "cli/report_text.hpp"
#include "cli/start_batch.hpp"
#include "config/host_keys.hpp"
#include "supervise/batch.hpp"
#include "supervise/local_engine.hpp"

namespace backplane {
namespace {

int ExitOf(const BatchReport& report, bool skip_invalid) {
  const size_t failed = report.Count(TrialState::kFailed),
               usable = report.Count(TrialState::kCompleted) + report.Count(TrialState::kPruned);
  if (report.interrupted) return kInterrupted;
  if (!report.checks.empty() && (!skip_invalid || usable == 0)) {
    const bool is_file = std::all_of(report.checks.begin(), report.checks.end(),
                                     [](const FailedCheck& check) { return check.outcome == Outcome::kConfig; });
    return is_file && report.started == 0 && usable == 0 ? kUsage : kFailed;
  }
  if (!report.refused.empty()) return kFailed;
  if (failed > 0 || !report.paused.empty()) return usable > 0 ? kPartial : kFailed;
  return kOk;
}

}  // namespace

int RunCommand(const RunArgs& args) {
  PluginSearch search(args.input.plugin_path);
  const SlotLimits limits{args.jobs, args.gpus};
  PlanResult planned =
      PlanFile(args.input.file, {args.input.set, args.sweep, search.Lookup(), PresetsFor(args.input), DefaultsUnder(limits)});
  if (!planned.plan) {
    Complain(planned.errors, args.input.file);
    const bool lacks_budget = std::any_of(planned.errors.begin(), planned.errors.end(),
                                          [](const Diagnostic& error) { return error.message.starts_with(kNoBudget); });
    if (lacks_budget && planned.errors.size() == 1)
      std::fprintf(stderr, "  run:    %s %s\n", SameCommand(args).c_str(), kSomeBudget);
    return kUsage;
  }
  BatchRequest request;
  request.plan = std::move(*planned.plan);
  Experiment& base = request.plan.base.experiment;
  request.out = args.out.empty() ? std::filesystem::path(base.output_dir) : args.out;
  if (!args.apply.empty()) {
    const std::optional<RunArgs> applied = WithFinding(args, base, request.out);
    return applied ? RunCommand(*applied) : static_cast<int>(kUsage);
  }
  for (const std::string& note : request.plan.notes) std::fprintf(stderr, "%s\n", note.c_str());
  std::optional<Slots> slots = SlotsFor(request.plan, limits);
  if (!slots) return kUsage;
  if (args.dry_run) {
    const PluginsAsked asked = AskPlugins(request.plan, &*slots);
    if (asked.interrupted) {
      std::fputs(kStoppedWhileChecking, stderr);
      return kInterrupted;
    }
    for (const std::string& note : asked.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
    if (!asked.errors.empty()) Complain(asked.errors, args.input.file);
    if (!asked.errors.empty() && !args.skip_invalid) return asked.all_config ? kUsage : kFailed;
    return DryRun(request.plan, request.out, *slots, args);
  }
  FillRequest(args, &request);
  LocalEngine engine(request.program);
  const BatchReport report = RunBatch(request, &engine, &*slots);
  const std::optional<MadeReport> made = MakeReportAfterRun(request, report, args);
  PrintBatch(request, report, made ? &*made : nullptr, args);
  return ExitOf(report, args.skip_invalid);
}

}  // namespace backplane
