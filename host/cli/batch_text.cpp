#include "cli/batch_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <set>

#include "base/colour.hpp"
#include "base/error_words.hpp"
#include "base/interrupt.hpp"
#include "base/json_text.hpp"
#include "base/patient_output.hpp"
#include "base/printable.hpp"
#include "base/shell_argument.hpp"
#include "base/text_columns.hpp"
#include "cli/plugin_check.hpp"
#include "cli/search_text.hpp"
#include "contract/recorded_budget.hpp"
#include "input/load_file.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/attempt_json.hpp"
#include "record/batch_record.hpp"
#include "record/budget_cut.hpp"
#include "record/report_requests.hpp"
#include "screen/progress.hpp"
#include "screen/summary.hpp"
#include "store/out_folder.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {
namespace {

constexpr char kStoppedBeforeTheStart[] = "stopped before any trial started; the same command resumes\n";
constexpr size_t kShownFailures = 5;
// After a stop the program ends within 2 s of its last trial. A report that takes longer is left out.
constexpr std::chrono::milliseconds kReportAfterStop{1000}, kTableAfterStop{500};
constexpr int kResultPatienceAfterStop_ms = 500;
constexpr TrialState kStates[] = {TrialState::kCompleted, TrialState::kPruned,  TrialState::kInfeasible,
                                  TrialState::kFailed,    TrialState::kSkipped, TrialState::kPlanned};

// What `run --json` prints.
struct TrialAnswer {
  std::string trial_id, name;
  uint64_t seed = 0;
  std::vector<std::pair<std::string, nlohmann::json>> values;
  TrialState state = TrialState::kPlanned;
  std::string outcome, why;
  unsigned attempts = 0, lost_nodes = 0;
  nlohmann::json result;  // as its last attempt wrote it; null: none did

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("trial_id", self.trial_id);
    visit("name", self.name);
    visit("seed", self.seed);
    visit("values", self.values);
    visit("state", self.state);
    visit("outcome", self.outcome);
    visit("why", self.why);
    visit("attempts", self.attempts);
    visit("lost_nodes", self.lost_nodes);
    visit("result", self.result);
  }
};

struct BatchAnswer {
  std::string experiment;
  std::filesystem::path out;
  std::string paused;
  bool interrupted = false;
  std::vector<TrialAnswer> trials;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("experiment", self.experiment);
    visit("out", self.out);
    visit("paused", self.paused);
    visit("interrupted", self.interrupted);
    visit("trials", self.trials);
  }
};

// "walk: 3 COMPLETED, 1 FAILED"
std::string CountsLine(const Plan& plan, const BatchReport& report) {
  std::string counts;
  for (const TrialState state : kStates) {
    if (const size_t n = report.Count(state)) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, Word(state));
  }
  return fmt::format("{}: {}", plan.base.experiment.name, counts);
}

// A line on the terminal during work that prints nothing itself.
class Passing {
 public:
  explicit Passing(const std::string& text) : stands_(!text.empty() && DetectScreen(STDERR_FILENO).live) {
    if (stands_) fmt::print(stderr, "{}", text);
  }
  ~Passing() {
    if (stands_) fmt::print(stderr, "\r\x1b[2K");
  }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

 private:
  const bool stands_;
};

// After a stop.
void SayLeftOut(const char* what, const std::exception& why, const std::string& command, const std::filesystem::path& out) {
  LogInfo("  the {} was not written: {}\n  later: {} {}", what, why.what(), command, ShellArgument(out.string()));
}

class BatchText {
 public:
  BatchText(const BatchRequest& request, const BatchReport& report, const std::optional<std::string>& made, const RunArgs& args)
      : request_(request), report_(report), made_(made), args_(args), plan_(request.plan), names_(DisplayNames(plan_)) {}

  void Print() const {
    if (!report_.refused.empty()) {
      std::fputs(report_.refused.c_str(), stderr);
      return;
    }
    if (report_.interrupted && report_.started == 0) {
      if (args_.json) std::printf("%s\n", JsonText(Json(), 1).c_str());
      std::fputs(report_.while_checking ? kStoppedWhileChecking : kStoppedBeforeTheStart, stderr);
      return;
    }
    PrintChecks();
    const bool refused = !report_.checks.empty() && !request_.skip_invalid;
    if (args_.json) {
      std::printf("%s\n", JsonText(Json(), 1).c_str());
    } else if (refused && report_.Count(TrialState::kPlanned) == plan_.trials.size()) {
      return;  // a table of trials that have not run adds nothing
    } else if (!made_ && plan_.trials.size() == 1 && !plan_.swept) {
      PrintSingle();
      PrintLostNodes();
    } else {
      if (plan_.search && !args_.quiet) std::fputs(SearchText(plan_, request_.out).c_str(), stdout);
      if (args_.quiet) {
        fmt::print("{}\n{}", CountsLine(plan_, report_), made_.value_or(""));
      } else if (made_) {
        std::fputs(made_->c_str(), stdout);
      } else {
        PrintTable();
      }
      PrintFailures();
      PrintLostNodes();
      PrintEnd();
    }
    if (report_.started == 0 && report_.checks.empty() && report_.paused.empty() && !args_.quiet) PrintNothingStarted();
  }

 private:
  void PrintChecks() const {
    if (report_.checks.empty()) return;
    const std::vector<SaidOnce> errors = SayOnce(plan_.Checked(), report_.checks);
    size_t in_file = 0;
    for (const SaidOnce& said : errors) {
      PrintError(said);
      in_file += said.check.killed ? 0 : 1;
    }
    std::string end;
    if (in_file > 0) end = fmt::format("{} {} in {}", in_file, in_file == 1 ? "error" : "errors", args_.input.file.string());
    if (in_file < errors.size()) end += std::string(in_file > 0 ? "; " : "") + "the same command repeats the killed checks";
    for (const SaidOnce& said : errors) {
      if (said.check.outcome != Outcome::kConfig) end += "; log: " + AttemptFolder(said.check.folder).standard_error().string();
    }
    end += request_.skip_invalid ? "; their trials are skipped" : "; nothing was started";
    if (!request_.skip_invalid && !AllTrialsRefused()) end += "; --skip-invalid runs the other trials";
    LogError("{}", end);
  }

  bool AllTrialsRefused() const {
    size_t refused = 0;
    for (const FailedCheck& check : report_.checks) refused += check.trials.size();
    return refused >= plan_.trials.size();
  }

  TrialResult LastResult(size_t trial) const {
    const TrialFolder folder = TrialFolderOf(request_.out, plan_.trials[trial].id);
    return ReadResult(folder.attempt(folder.LastAttempt()));
  }

  void PrintSingle() const {
    const TrialFolder folder = TrialFolderOf(request_.out, plan_.trials[0].id);
    const BatchReport::Trial& trial = report_.trials[0];
    if (folder.LastAttempt() == 0 || !report_.checks.empty()) return;
    TrialResult result = LastResult(0);
    // The batch decides the trial's state: out of memory may be a result.
    if (trial.state == TrialState::kInfeasible) result.state = trial.state;
    const std::string same = SameCommand(args_);
    const bool completed = IsFinished(trial.state);
    SummaryContext context{plan_.base.experiment.name,
                           request_.out,
                           folder.attempt(folder.LastAttempt()).folder,
                           {},
                           std::min<size_t>(ReportWidth(), 80)};
    if (completed) {
      context.next = {same + " --fresh", SameCommand(WithNextSeed())};
    } else {
      const std::string replay =
          args_.typed_program + " replay " + ShellArgument(request_.out.string()) + " " + plan_.trials[0].id + " --gdb";
      context.next = {trial.state == TrialState::kPlanned ? same : same + " --only-failed",
                      trial.outcome == Outcome::kSignal ? replay : same + " --fresh"};
    }
    if (!completed && !report_.interrupted) {
      std::fputs(WithTone(FormatFailure(result, context), STDERR_FILENO).c_str(), stderr);
    } else if (args_.quiet) {
      std::printf("%s: %s, results in %s\n", context.title.c_str(), SummaryState(result), context.attempt_dir.c_str());
    } else {
      std::fputs(WithTone(FormatSummary(result, context), STDOUT_FILENO).c_str(), stdout);
      PrintLonger();
    }
  }

  // The summary is of the whole trial, also under a budget that was lowered since.
  void PrintLonger() const {
    const ResultsFolder results{request_.out};
    const BatchRecord record = ReadBatchRecord(results.events());
    const TrialRecord* const known = record.Find(plan_.trials[0].id);
    const auto cut = known ? CutAtBudget(results, *known, RecordedBudget(plan_.base.experiment.budget)).cut : std::nullopt;
    if (!cut || !cut->longer) return;
    fmt::print("  The trial ran longer than its budget, which covers {} iterations; for their numbers: {} report {}\n",
               cut->iteration(), args_.typed_program, ShellArgument(request_.out.string()));
  }

  RunArgs WithNextSeed() const {
    RunArgs next = args_;
    std::erase_if(next.input.set, [](const std::string& set) { return set.starts_with("seed=") || set.starts_with("+seed="); });
    next.input.set.push_back(fmt::format("seed={}", plan_.trials[0].seed + 1));
    return next;
  }

  // Colours the first line by how the batch ended.
  std::string WithTone(const std::string& text, int fd) const {
    const size_t end = text.find('\n');
    return ShowsColour(fd) ? Toned(text.substr(0, end), ToneOfEnd()) + text.substr(end) : text;
  }

  Tone ToneOfEnd() const {
    return report_.Count(TrialState::kFailed) > 0    ? Tone::kBad
           : report_.Count(TrialState::kPlanned) > 0 ? Tone::kWarning
                                                     : Tone::kGood;
  }

  void PrintTable() const {
    const std::string counts = CountsLine(plan_, report_);
    fmt::print("{}\n", ShowsColour(STDOUT_FILENO) ? Toned(counts, ToneOfEnd()) : counts);
    const TableRequest request{request_.out, plan_.base.experiment.live, ReportWidth(), ShowsColour(STDOUT_FILENO)};
    const ReportProgram program = report_.interrupted ? ReportProgram::AfterStop(kTableAfterStop) : ReportProgram();
    try {
      std::fputs(program.Ask("--table", ToJson(request)).c_str(), stdout);
    } catch (const std::exception& error) {
      if (report_.interrupted) {
        SayLeftOut("table", error, args_.typed_program + " status", request_.out);
      } else {
        LogError("backplane: no table of the trials: {}", WordsOf(error));
      }
    }
  }

  void PrintFailures() const {
    size_t shown = 0;
    std::set<std::string> tracebacks;
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      if (report_.trials[i].state != TrialState::kFailed || shown++ >= kShownFailures) continue;
      const std::vector<std::string> lines = PrintableLines(report_.trials[i].why);
      LogError("  {} FAILED ({}): {}\n    again: {} replay {} {}", names_[i], Word(report_.trials[i].outcome),
               lines.empty() ? "" : lines.front(), args_.typed_program, ShellArgument(request_.out.string()),
               plan_.trials[i].id);
      if (!tracebacks.insert(report_.trials[i].why).second) continue;  // equal ones are printed once
      for (size_t line = 1; line < lines.size(); ++line) LogError("    {}", lines[line]);
    }
    if (shown > kShownFailures)
      LogError("  and {} more: {} status {}", shown - kShownFailures, args_.typed_program,
               ShellArgument(request_.out.string()));
  }

  // A trial that loses too many nodes stays PLANNED, and no table has its reason.
  void PrintLostNodes() const {
    size_t shown = 0, elsewhere = 0, nodes = 0;
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      const BatchReport::Trial& trial = report_.trials[i];
      if (trial.lost_nodes == 0) continue;
      if (trial.state != TrialState::kPlanned) {
        ++elsewhere;
        nodes += trial.lost_nodes;
      } else if (shown++ < kShownFailures) {
        LogError("  {} PLANNED: {} lost, the last one because {}", names_[i], Nodes(trial.lost_nodes), Printable(trial.why));
      }
    }
    if (shown > kShownFailures)
      LogError("  and {} more trials that lost nodes; `lost_nodes` of --json lists them", shown - kShownFailures);
    if (elsewhere > 0)
      LogError("  {} lost by {}, which ran again on other nodes", Nodes(nodes),
               elsewhere == 1 ? "one other trial" : fmt::format("{} other trials", elsewhere));
  }
  static std::string Nodes(size_t count) { return count == 1 ? "1 node was" : fmt::format("{} nodes were", count); }

  void PrintEnd() const {
    const std::string same = SameCommand(args_, plan_.compare ? "compare" : "run");
    const bool resumes = report_.pause_reason != PauseReason::kObjective;
    if (!resumes) LogError("{}\nhint: correct the metric, then run `{} --fresh`", report_.paused, same);
    if (args_.quiet) return;
    fmt::print("  results in {}\n", request_.out.string());
    if (resumes && !report_.paused.empty())
      fmt::print(stderr, "  paused: {}; the same command resumes with the rest\n", report_.paused);
    if (resumes && (report_.Count(TrialState::kPlanned) > 0 || report_.interrupted)) fmt::print("  resume: {}\n", same);
    if (report_.Count(TrialState::kFailed) > 0 && !plan_.compare) fmt::print("  retry:  {} --only-failed\n", same);
    if (plan_.search && report_.Count(TrialState::kPruned) > 0) fmt::print("  pruned: {} --only-pruned\n", same);
    fmt::print("  table:  {} export csv {}\n", args_.typed_program, ShellArgument(request_.out.string()));
  }

  void PrintNothingStarted() const {
    const bool failed = report_.Count(TrialState::kFailed) > 0;
    std::string text =
        WrapAfter("", "  ",
                  failed ? "no trial is left to run; --only-failed runs the failed ones again, --fresh starts from scratch"
                         : "this run was finished before; --fresh starts from scratch",
                  ReportWidth() - 2);
    text.pop_back();
    LogInfo("{}", text);
  }

  nlohmann::json Json() const {
    BatchAnswer answer{plan_.base.experiment.name, request_.out, report_.paused, report_.interrupted, {}};
    for (size_t i = 0; i < plan_.trials.size(); ++i) {
      const PlannedPoint& point = plan_.points[plan_.trials[i].point];
      const BatchReport::Trial& trial = report_.trials[i];
      const TrialFolder folder = TrialFolderOf(request_.out, plan_.trials[i].id);
      const unsigned last = folder.LastAttempt();
      const auto result = last > 0 ? ReadResultJson(folder.attempt(last).result()) : std::nullopt;
      answer.trials.push_back({plan_.trials[i].id, point.name, plan_.trials[i].seed, point.values, trial.state,
                               Word(trial.outcome), trial.why, trial.attempts, trial.lost_nodes,
                               result.value_or(nlohmann::json())});
    }
    return ToJson(answer);
  }

  const BatchRequest& request_;
  const BatchReport& report_;
  const std::optional<std::string>& made_;  // absent: no report was asked for, or it could not be made
  const RunArgs& args_;
  const Plan& plan_;
  const std::vector<std::string> names_;  // [trials]
};

}  // namespace

std::optional<std::string> ReportAfterRun(const BatchRequest& request, const BatchReport& batch, const RunArgs& args) {
  const Experiment& experiment = request.plan.base.experiment;
  const bool none_ended = batch.Count(TrialState::kPlanned) == batch.trials.size();
  const bool asks = experiment.report.kind && !none_ended;
  if (!batch.refused.empty() || !(asks || experiment.page) || (none_ended && batch.started == 0)) return std::nullopt;
  ReportRequest report = RequestFor(request.out, args.typed_program);
  if (args.json || args.quiet) report.form = "line";
  if (!asks) report.form = "page";
  report.below = CountsLine(request.plan, batch);
  report.width = ReportWidth();
  // Figures take their time, and longer on a busy machine.
  const Passing passing(asks && !args.json && !args.quiet ? "making the report ..." : "");
  const ReportProgram program = batch.interrupted ? ReportProgram::AfterStop(kReportAfterStop) : ReportProgram();
  try {
    std::string said = program.Ask("--make", ToJson(report));
    return asks ? std::optional(std::move(said)) : std::nullopt;
  } catch (const std::exception& error) {
    if (batch.interrupted || InterruptScope::Count() > 0) {
      SayLeftOut(asks ? "report" : "page", error, args.typed_program + " report", request.out);
      return std::nullopt;
    }
    LogError("backplane: no {} was written: {}\n  later: {} report {}", asks ? "report" : "page", WordsOf(error),
             args.typed_program, ShellArgument(request.out.string()));
    return std::nullopt;
  }
}

void PrintBatch(const BatchRequest& request, const BatchReport& batch, const std::optional<std::string>& report,
                const RunArgs& args) {
  if (batch.interrupted) LimitOutput(kResultPatienceAfterStop_ms);
  BatchText(request, batch, report, args).Print();
}

}  // namespace backplane
