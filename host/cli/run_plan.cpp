#include "cli/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/patient_output.hpp"
#include "cli/batch_text.hpp"
#include "cli/dry_run.hpp"
#include "cli/plugin_check.hpp"
#include "cli/run_session.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"

namespace backplane {
namespace {

PlannedRun ReadPlannedRun(const std::filesystem::path& file) {
  try {
    return RecordFromJson<PlannedRun>(nlohmann::json::parse(ReadFile(file).value_or(""), nullptr, /*allow_exceptions=*/false));
  } catch (const RecordError& error) {
    throw std::runtime_error(fmt::format("{} is no plan: {}", file.string(), WordsOf(error)));
  }
}

bool WasCutShort(const BatchReport& report) {
  if (report.interrupted || !report.refused.empty() || !report.checks.empty()) return false;
  return std::ranges::any_of(report.trials, [](const BatchReport::Trial& trial) {
    return trial.state == TrialState::kFailed && (trial.outcome == Outcome::kSignal || trial.outcome == Outcome::kTemp);
  });
}

// One plan, with the typed arguments.
class PlanRunner {
 public:
  PlanRunner(const PlannedRun& planned, const RunArgs& args) : planned_(planned), args_(args) {
    args_.plan = false;
    args_.input = {planned.file, planned.set, {}, planned.plugin_path, planned.preset};
    args_.out = planned.out;
  }

  int Run() {
    PluginSearch search(planned_.plugin_path);
    PlanOptions options{planned_.set, {}, search.Lookup(), PresetsFor(args_.input), DefaultsUnder({args_.jobs, args_.gpus})};
    options.seeds = planned_.seeds;
    options.looks = planned_.looks;
    PlanResult result = PlanFileIn(planned_.file, std::move(options), planned_.out, args_.fresh);
    if (!result.plan) return RejectFile(result.errors);
    RunSession session(args_, std::move(*result.plan));
    session.request.arguments->out = planned_.typed_out.string();
    if (planned_.only_by_same) session.request.arguments->command = args_.same;
    if (planned_.end) session.request.report_program.clear();  // a measurement has no page
    if (!session.FindRoom()) return kUsage;
    return args_.dry_run ? Dry(&session) : Start(&session);
  }

 private:
  int RejectFile(const std::vector<Diagnostic>& errors) const {
    if (!planned_.end) {
      Complain(errors, planned_.file);
    } else {
      PlannedRunEnd end;
      end.refused_file = errors.front().message;
      Write(end);
    }
    return kUsage;
  }

  int Dry(RunSession* session) const {
    const Plan& plan = session->request.plan;
    ResourcePool pool = session->pool();
    if (!session->is_elsewhere()) {
      const std::optional<int> rejected = RejectedByPlugins(plan, planned_.file, &pool, planned_.out, /*quiet=*/true);
      if (rejected) return *rejected;
    }
    return DryRun(plan, planned_.out, pool, args_);
  }

  int Start(RunSession* session) const {
    BatchRequest& request = session->request;
    std::optional<BatchReport> report = session->Run();
    if (report && !planned_.end && WasCutShort(*report)) {
      // A signal or a busy machine ended these trials, not the arm: run the same seeds again.
      request.fresh = false;
      request.only_failed = {Word(Outcome::kSignal), Word(Outcome::kTemp)};
      report = session->Run();
    }
    if (!report) return kUsage;
    if (!report->no_engine.empty()) {
      LogError("backplane: {}\nnothing was started", report->no_engine);
      return kUsage;
    }
    return planned_.end ? Record(request.plan, *report) : Print(request, *report);
  }

  int Print(const BatchRequest& request, const BatchReport& report) const {
    if (report.interrupted) {
      fmt::print(args_.json ? stderr : stdout, "interrupted\n  resume: {}\n", args_.same);
      return kInterrupted;
    }
    const bool all_ran = report.paused.empty() && report.Count(TrialState::kPlanned) == 0;
    if (report.refused.empty() && report.checks.empty() && all_ran) return kOk;
    PrintBatch(request, report, std::nullopt, args_);
    return report.started == 0 ? kUsage : kFailed;
  }

  int Record(const Plan& plan, const BatchReport& report) const {
    PlannedRunEnd end{
        report.interrupted, "", report.refused, report.paused, {}, report.trials.size(), report.Count(TrialState::kPlanned)};
    for (const SaidOnce& said : SayOnce(plan, report.checks)) end.complaints.push_back(said.diagnostic.message);
    Write(end);
    return report.interrupted ? kInterrupted : kOk;
  }

  void Write(const PlannedRunEnd& end) const { WriteFileAtomic(*planned_.end, JsonText(ToJson(end)) + "\n"); }

  const PlannedRun& planned_;
  RunArgs args_;
};

}  // namespace

int RunPlanned(const PlannedRun& planned, const RunArgs& args) { return PlanRunner(planned, args).Run(); }

int RunPlan(const RunArgs& args) {
  if (!args.dry_run) LimitOutput();
  return RunPlanned(ReadPlannedRun(args.input.file), args);
}

}  // namespace backplane
