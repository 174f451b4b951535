#include "cli/run_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/batch_text.hpp"
#include "cli/dry_run.hpp"
#include "cli/load_file.hpp"
#include "cli/plugin_check.hpp"
#include "cli/run_session.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "supervise/batch.hpp"

namespace backplane {
namespace {

bool WasCutShort(const BatchReport& report) {
  if (report.interrupted || !report.refused.empty() || !report.checks.empty()) return false;
  return std::ranges::any_of(report.trials, [](const BatchReport::Trial& trial) {
    return trial.state == TrialState::kFailed && (trial.outcome == Outcome::kSignal || trial.outcome == Outcome::kTemp);
  });
}

// Returns an exit code if no further look can follow.
std::optional<int> RunLook(const Looks& looks, Plan plan, bool fresh) {
  RunArgs run = looks.run;
  run.out = looks.out;
  RunSession session(run, std::move(plan));
  BatchRequest& request = session.request;
  if (!session.FindRoom()) return kUsage;
  request.arguments->out = looks.run.out.string();
  request.fresh = fresh;
  if (looks.only_by_same) request.arguments->command = looks.same;
  std::optional<BatchReport> report = session.Run();
  if (report && WasCutShort(*report)) {
    // A signal or a busy machine ended these trials, not the arm: run the same seeds again.
    request.fresh = false;
    request.only_failed = {Word(Outcome::kSignal), Word(Outcome::kTemp)};
    report = session.Run();
  }
  if (!report) return kUsage;
  if (!report->no_engine.empty()) {
    LogError("backplane: {}\nnothing was started", report->no_engine);
    return kUsage;
  }
  if (report->interrupted) {
    fmt::print(looks.run.json ? stderr : stdout, "interrupted\n  go on:  {}\n", looks.same);
    return kInterrupted;
  }
  const bool all_ran = report->paused.empty() && report->Count(TrialState::kPlanned) == 0;
  if (report->refused.empty() && report->checks.empty() && all_ran) return std::nullopt;
  PrintBatch(request, *report, std::nullopt, looks.run);
  return report->started == 0 ? kUsage : kFailed;
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
  RunSession session(run, plan);
  if (!session.FindRoom()) return kUsage;
  ResourcePool pool = session.pool();
  if (!session.is_elsewhere()) {
    const PluginsAsked asked = AskPlugins(plan, &pool);
    if (asked.interrupted) return kInterrupted;
    if (!asked.errors.empty()) {
      Complain(asked.errors, run.input.file);
      return asked.all_config ? kUsage : kFailed;
    }
  }
  if (!run.json) return DryRun(plan, out, pool, run);
  *preview = DryRunJson(plan, out, pool, run);
  return kOk;
}

}  // namespace backplane
