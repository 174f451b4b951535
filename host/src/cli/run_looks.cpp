#include "cli/run_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/batch_text.hpp"
#include "cli/dry_run.hpp"
#include "cli/load_file.hpp"
#include "cli/plugin_check.hpp"
#include "cli/report_program.hpp"
#include "cli/start_batch.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "supervise/batch.hpp"
#include "supervise/local_engine.hpp"

namespace backplane {
namespace {

bool WasCutShort(const BatchReport& report) {
  if (report.interrupted || !report.refused.empty() || !report.checks.empty()) return false;
  return std::ranges::any_of(report.trials, [](const BatchReport::Trial& trial) {
    return trial.state == TrialState::kFailed && (trial.outcome == Outcome::kSignal || trial.outcome == Outcome::kTemp);
  });
}

// An exit code if it can not go on after it.
std::optional<int> RunLook(const Looks& looks, Plan plan, bool fresh) {
  std::optional<ResourcePool> pool = ResourcePoolFor(plan, {looks.run.jobs, looks.run.gpus});
  if (!pool) return kUsage;
  BatchRequest request;
  request.plan = std::move(plan);
  request.out = looks.out;
  FillRequest(looks.run, &request);
  request.fresh = fresh;
  if (looks.only_by_same) request.arguments->command = looks.same;
  request.typed_program = looks.run.typed_program;
  if (request.plan.base.experiment.page) request.report_program = ReportProgram().file();
  LocalEngine engine(request.program);
  BatchReport report = RunBatch(&request, &engine, &*pool);
  if (WasCutShort(report)) {
    // What a signal or a busy machine ended says nothing of the arm: the same seed again.
    request.fresh = false;
    request.only_failed = {Word(Outcome::kSignal), Word(Outcome::kTemp)};
    report = RunBatch(&request, &engine, &*pool);
  }
  if (report.interrupted) {
    fmt::print(looks.run.json ? stderr : stdout, "interrupted\n  go on:  {}\n", looks.same);
    return kInterrupted;
  }
  const bool all_ran = report.paused.empty() && report.Count(TrialState::kPlanned) == 0;
  if (report.refused.empty() && report.checks.empty() && all_ran) return std::nullopt;
  PrintBatch(request, report, std::nullopt, looks.run);
  return report.started == 0 ? kUsage : kFailed;
}

}  // namespace

std::optional<int> RunLooks(const Looks& looks) {
  bool fresh = looks.run.fresh;
  for (uint64_t look = fresh ? 1 : std::max<uint64_t>(1, looks.first);; ++look, fresh = false) {
    std::optional<Plan> plan = looks.plan(look);
    if (!plan) return kUsage;
    if (const std::optional<int> code = RunLook(looks, *std::move(plan), fresh)) return code;
    const std::optional<std::string> standing = looks.standing();
    if (!standing || look >= looks.most) return std::nullopt;
    if (looks.run.json || looks.run.quiet || standing->empty()) continue;
    fmt::print("{}\n", *standing);
    std::fflush(stdout);
  }
}

uint64_t TrialsOfAPoint(const std::filesystem::path& out) {
  const ResultsFolder folder{out};
  if (!std::filesystem::exists(folder.plan())) return 0;
  std::map<std::string, uint64_t> trials;
  for (const PlanLine& line : ReadPlanFile(folder.plan())) trials[line.point_id] += line.dropped ? 0 : 1;
  uint64_t most = 0;
  for (const auto& [point, count] : trials) most = std::max(most, count);
  return most;
}

int DryRunOfLooks(const Plan& plan, const std::filesystem::path& out, const RunArgs& run, nlohmann::json* preview) {
  std::optional<ResourcePool> pool = ResourcePoolFor(plan, {run.jobs, run.gpus});
  if (!pool) return kUsage;
  const PluginsAsked asked = AskPlugins(plan, &*pool);
  if (asked.interrupted) return kInterrupted;
  if (!asked.errors.empty()) {
    Complain(asked.errors, run.input.file);
    return asked.all_config ? kUsage : kFailed;
  }
  if (!run.json) return DryRun(plan, out, *pool, run);
  *preview = DryRunJson(plan, out, *pool, run);
  return kOk;
}

}  // namespace backplane
