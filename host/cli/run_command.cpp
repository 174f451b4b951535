#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/json_text.hpp"
#include "base/patient_output.hpp"
#include "base/suggest.hpp"
#include "batch/batch.hpp"
#include "batch/batch_search.hpp"
#include "cli/apply_finding.hpp"
#include "cli/batch_text.hpp"
#include "cli/commands.hpp"
#include "cli/dry_run.hpp"
#include "cli/plugin_check.hpp"
#include "cli/run_plan.hpp"
#include "cli/run_session.hpp"
#include "cluster/make_engine.hpp"
#include "config/host_keys.hpp"
#include "input/experiment_file.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"
#include "input/split_commas.hpp"
#include "log/log.hpp"
#include "record/batch_record.hpp"
#include "record/results_folder.hpp"
#include "record/run_info.hpp"
#include "search/side_process.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

// Planned trials of other stages than --stage.
size_t LeftOut(const Plan& plan, const BatchReport& report, const std::string& stage) {
  size_t left = 0;
  for (size_t i = 0; i < report.trials.size() && !stage.empty(); ++i)
    left += report.trials[i].state == TrialState::kPlanned && plan.points[plan.trials[i].point].stage != stage;
  return left;
}

int ExitOf(const BatchReport& report, bool skip_invalid, size_t left_out) {
  const size_t unfinished = report.Count(TrialState::kFailed) + report.Count(TrialState::kPlanned) - left_out,
               usable = report.Count(TrialState::kCompleted) + report.Count(TrialState::kPruned);
  if (report.interrupted) return kInterrupted;
  if (!report.checks.empty() && (!skip_invalid || usable == 0)) {
    const bool is_file = std::all_of(report.checks.begin(), report.checks.end(),
                                     [](const FailedCheck& check) { return check.outcome == Outcome::kConfig; });
    return is_file && report.started == 0 ? kUsage : kFailed;
  }
  if (!report.refused.empty()) return report.refused_file ? kUsage : kFailed;
  if (report.pause_reason == PauseReason::kObjective) return kFailed;
  if (unfinished > 0 || !report.paused.empty()) return usable > 0 ? kPartial : kFailed;
  return kOk;
}

// Reads the classes of --only-failed. Returns an error, or nothing.
std::string ReadClasses(const std::string& text, std::set<std::string>* classes) {
  std::vector<std::string> known;
  for (const Outcome failure : kFailures) known.emplace_back(Word(failure));
  for (const std::string& part : SplitCommas(text)) {
    if (std::find(known.begin(), known.end(), part) == known.end())
      return fmt::format("unknown class '{}'{}; the classes are {}", part, DidYouMean(Nearest(part, Candidates(known))),
                         fmt::join(known, ", "));
    classes->insert(part);
  }
  return "";
}

// An error about --stage, or nothing.
std::string WhyNotStage(const Plan& plan, const RunArgs& args, const std::filesystem::path& out) {
  if (args.stage.empty()) return "";
  const auto stage = std::find(plan.stages.begin(), plan.stages.end(), args.stage);
  if (plan.stages.empty()) return fmt::format("--stage: expected an experiment with `stages`, got one without");
  if (stage == plan.stages.end())
    return fmt::format("--stage: expected {}, got '{}'", fmt::join(plan.stages, " or "), args.stage);
  if (stage == plan.stages.begin()) return "";
  const BatchRecord record = args.fresh ? BatchRecord() : ReadBatchRecord(ResultsFolder{out}.events());
  const bool can_start = std::any_of(plan.trials.begin(), plan.trials.end(), [&](const PlannedTrial& trial) {
    const TrialRecord* before = trial.after ? record.Find(plan.trials[*trial.after].id) : nullptr;
    return plan.points[trial.point].stage == args.stage && before && before->state == TrialState::kCompleted;
  });
  if (can_start) return "";
  RunArgs first = args;
  first.stage = *(stage - 1);
  return fmt::format(
      "--stage {}: expected a completed trial of the stage before, {}, got none in {}\nnothing was started\nhint: {}",
      args.stage, first.stage, out.string(), SameCommand(first));
}

// Adds the suggestions of the search so far.
void PlanAgain(Plan* plan, const std::filesystem::path& out) {
  BatchSearch(plan, out).Regrow(ReadBatchRecord(ResultsFolder{out}.events()).search);
}

// Sets the budget of the last run in the folder as schedule_budget.
RunArgs WithKeptSchedule(RunArgs args, const std::filesystem::path& out) {
  args.keep_schedule = false;
  const auto run =
      ReadTolerantly<RunInfo>(nlohmann::json::parse(ReadFile(ResultsFolder{out}.run()).value_or(""), nullptr, false));
  if (args.fresh || !run.schedule_budget)
    throw std::runtime_error(fmt::format("--keep-schedule: expected results with a recorded budget, got {}{}",
                                         args.fresh ? "--fresh" : "none in ", args.fresh ? "" : out.string()));
  args.input.set.push_back("schedule_budget=" + JsonText(ToJson(*run.schedule_budget)));
  return args;
}

// Requirements of the run that a dry run does not need.
void NoteWhatIsMissing(const Plan& plan) {
  for (const std::string& why : {plan.search ? WhyNoSearch(plan.search->method) : "", WhyNoEngine(plan.base.experiment.engine)})
    if (!why.empty()) LogInfo("note: {}", why);
}

// Workers are invisible in the plan: processes of a trial that play its episodes.
void NoteWorkers(const Plan& plan) {
  uint64_t workers = plan.base.experiment.rollout.workers;
  for (size_t i = 0; i < plan.points.size(); ++i) {
    const auto& values = plan.points[i].values;
    const bool own = std::any_of(values.begin(), values.end(), [](const auto& value) {
      return value.first == "rollout" || value.first == "rollout.workers";
    });
    if (own) workers = std::max(workers, plan.ExperimentOf(i).rollout.workers);
  }
  if (workers == 0) return;
  LogInfo("note: {} {} the episodes of {} (rollout.workers)", workers, workers == 1 ? "process plays" : "processes play",
          plan.trials.size() == 1 ? "the trial" : "a trial");
}

void Declare(RunArgs* args, Arguments* add) {
  args->typed_program = add->program();
  AddFile(add, &args->input, /*or_results=*/true);
  add->Add("--sweep", "[POINT:]PATH=VALUES", &args->sweep,
           "Sweep a path: path=1,2,4, path=range(1,9,2) with the 9 included, or path=choice(a,b); point:path=1,2 for one "
           "point; repeatable");
  add->Add("-o,--out", "OUT", &args->out, "Results folder instead of output.dir");
  add->Flag("--dry-run", &args->dry_run, "Print the trials, their resources and an estimate; start nothing");
  add->Flag("--fresh", &args->fresh, "Move old results to OUT.1 and start from scratch");
  const Argument only_failed =
      add->Add("--only-failed", "[CLASS,...]", "Only run failed trials again, all or of these classes: nan,signal,...",
               [args](const std::string& text) { return ReadClasses(text, &args->only_failed.emplace()); })
          .MayBeEmpty();
  add->Flag("--only-damaged", &args->only_damaged, "Only run finished trials with missing, cut off or altered files again")
      .Excludes(only_failed);
  add->Flag("--only-pruned", &args->only_pruned, "Only resume trials that the search pruned").Excludes(only_failed);
  add->Flag("--adopt-history", &args->adopt_history, "Resume a search even if it would suggest different values today");
  add->Flag("--keep-schedule", &args->keep_schedule, "With a larger budget, extend the trials but keep their schedules");
  add->Flag("--accept-change", &args->accept_change, "Run finished points again if their plugin or data files changed");
  add->Flag("--skip-invalid", &args->skip_invalid, "Skip points that plugins reject; run the rest");
  add->Add("--stage", "NAME", &args->stage, "Run only this stage of the experiment");
  add->Add("--apply", "FINDING", &args->apply,
           "Make the first change that a finding proposes; a change outside the sweep runs in OUT_try");
  add->Add("-j,--jobs", "N", &args->jobs, "Maximum number of trials at the same time; they share the cores").Within(1u, 4096u);
  const std::string where = fmt::format("Where trials run: {}; overrides engine.kind", fmt::join(EngineKinds(), ", "));
  add->Add("--engine", "KIND", where.c_str(), [args](const std::string& text) {
    args->input.set.push_back("engine.kind=" + text);
    return std::string();
  });
  add->Add("--gpus", "LIST", "Use only these GPUs, one per trial: 0,1,2",
           [args](const std::string& text) { return text.empty() ? "" : ReadNumbers(text, &args->gpus.emplace()); });
  add->Flag("--plan", &args->plan, "Read the file as a plan written by a program").Hidden();
  add->Add("--same", "COMMAND", &args->same, "With --plan: the command that runs it again").Hidden();
  add->Flag("--json", &args->json, "Print the result as JSON");
  const Argument quiet = add->Flag("-q,--quiet", &args->quiet, "Print one line at the end and no progress");
  add->Flag("-v,--verbose", &args->verbose, "Also print the trials' events to stderr, as in OUT/logs/session-N.log")
      .Excludes(quiet);
}

int RunAndTell(const RunArgs& args, RunSession* session) {
  const std::optional<BatchReport> report = session->Run();
  if (!report) return kUsage;
  if (!report->no_engine.empty()) {
    LogError("backplane: {}\nnothing was started", report->no_engine);
    return kUsage;
  }
  const InterruptScope interrupts;  // a stop leaves the report out
  const size_t left_out = LeftOut(session->request.plan, *report, args.stage);
  RunArgs next = args;  // after the stage, the rest
  if (left_out > 0 && left_out == report->Count(TrialState::kPlanned)) next.stage.clear();
  PrintBatch(session->request, *report, ReportAfterRun(session->request, *report, args), next);
  return InterruptScope::Count() > 0 ? kInterrupted : ExitOf(*report, args.skip_invalid, left_out);
}

// Checks the plugins too if the trials would run here.
int DryRunOf(const RunArgs& args, RunSession* session) {
  Plan& plan = session->request.plan;
  ResourcePool pool = session->pool();
  if (session->is_elsewhere()) return DryRun(plan, session->request.out, pool, args);
  const std::optional<int> rejected =
      RejectedByPlugins(plan.Checked(), args.input.file, &pool, args.fresh ? "" : session->request.out);
  if (rejected && (*rejected == kInterrupted || !args.skip_invalid)) return *rejected;
  if (plan.search && !args.fresh) PlanAgain(&plan, session->request.out);
  return DryRun(plan, session->request.out, pool, args);
}

}  // namespace

int RunExperiment(const RunArgs& args) {
  if (args.plan) return RunPlan(args);
  if (!args.dry_run) LimitOutput();
  if (IsResultsFolder(args.input.file)) {
    const std::optional<RunArgs> command = CommandOf(args);
    if (!command) return kUsage;
    LogInfo("resuming the results in {} with\n  {}", args.input.file.string(), SameCommand(*command));
    return RunExperiment(*command);
  }
  PluginSearch search(args.input.plugin_path);
  if (args.verbose) ShowDebug();
  const ResourceLimits limits{args.jobs, args.gpus};
  PlanOptions options{args.input.set, args.sweep, search.Lookup(), PresetsFor(args.input), DefaultsUnder(limits)};
  PlanResult planned = PlanFileIn(args.input.file, std::move(options), args.out, args.fresh);
  if (!planned.plan) {
    Complain(planned.errors, args.input.file);
    const bool lacks_budget = std::any_of(planned.errors.begin(), planned.errors.end(),
                                          [](const Diagnostic& error) { return error.code == ErrorCode::kNoBudget; });
    if (lacks_budget && planned.errors.size() == 1) LogInfo("  run:    {} {}", SameCommand(args), kSomeBudget);
    return kUsage;
  }
  if (planned.plan->compare) {
    LogError("backplane: {} compares arms, which `run` does not do\nnothing was started\nhint: {} compare {}",
             args.input.file.string(), args.typed_program, FileArguments(args.input));
    return kUsage;
  }
  RunSession session(args, std::move(*planned.plan));
  const BatchRequest& request = session.request;
  if (!args.apply.empty()) {
    const std::optional<RunArgs> applied = WithFinding(args, request.plan.base.experiment, request.out);
    return applied ? RunExperiment(*applied) : static_cast<int>(kUsage);
  }
  if (args.keep_schedule) return RunExperiment(WithKeptSchedule(args, request.out));
  if (const std::string why = WhyNotStage(request.plan, args, request.out); !why.empty()) {
    LogError("backplane: {}", why);
    return kUsage;
  }
  for (const std::string& note : request.plan.notes) LogInfo("{}", note);
  NoteWorkers(request.plan);
  if (args.dry_run) NoteWhatIsMissing(request.plan);
  if (!session.FindRoom()) return kUsage;
  return args.dry_run ? DryRunOf(args, &session) : RunAndTell(args, &session);
}

std::vector<Command> RunCommands() {
  return {MakeCommand<RunArgs>("run", "Run or resume an experiment", Declare, RunExperiment)};
}

}  // namespace backplane
