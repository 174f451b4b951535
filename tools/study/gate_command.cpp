// gate: tests if a change made a measure worse than a limit allows. Compares trials with a baseline from `gate save`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "arguments/tool_commands.hpp"
#include "base/error_words.hpp"
#include "base/json_text.hpp"
#include "base/patient_output.hpp"
#include "base/shell_argument.hpp"
#include "base/text_columns.hpp"
#include "input/experiment_file.hpp"
#include "input/foreign_runs.hpp"
#include "input/load_file.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/gate_answer.hpp"
#include "record/gate_baseline.hpp"
#include "study/commands.hpp"
#include "study/compare_files.hpp"
#include "study/gate_condition.hpp"
#include "study/gate_facts.hpp"
#include "study/gate_save.hpp"
#include "study/run_looks.hpp"

namespace backplane {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kAlpha = 0.05;  // per side, for all conditions together
constexpr size_t kTextWidth = 80;

struct GateArgs {
  fs::path baseline, subject;
  std::vector<std::string> fail_if;
  RunArgs run;
};

// Conditions that run and are judged together: all about scores, or all about speeds.
struct ConditionGroup {
  GateRequest request;
  std::vector<size_t> places;  // of its conditions among all
};

// Parts of a configuration that must be the same in the baseline.
struct GatedEnv {
  std::string plugin = "none";  // a command may have none

  static constexpr void Fields(auto& self, auto&& visit) { visit("plugin", self.plugin); }
};
struct Comparable {
  json budget, schedule_budget;
  GatedEnv env;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("budget", self.budget);
    visit("schedule_budget", DefaultIfMissing(self.schedule_budget));
    visit("env", self.env);
  }
};

GateAnswer Ask(const GateRequest& request) {
  return RecordFromJson<GateAnswer>(json::parse(ReportProgram().Ask("--gate", ToJson(request))));
}

class GateSession {
 public:
  GateSession(const GateArgs& args, GateBaseline baseline)
      : args_(args), baseline_(std::move(baseline)), search_(args.run.input.plugin_path) {}

  int Run() {
    if (const std::string why = ReadConditions(); !why.empty()) return Refuse(why);
    judged_.resize(scores_.places.size() + speeds_.places.size());
    if (IsResultsFolder(args_.subject)) return JudgeFolder();
    // Checked before scores run, too: otherwise their verdict would be lost.
    if (!speeds_.places.empty()) {
      if (const std::string why = WhyNotKept(args_.baseline, baseline_); !why.empty())
        return Refuse(fmt::format("{} needs the plugin files of the baseline, because baseline and experiment run in turn: {}",
                                  speeds_.request.conditions.front().measure, why));
    }
    for (ConditionGroup* group : {&scores_, &speeds_}) {
      if (group->places.empty()) continue;
      if (const std::optional<int> code = RunGroup(group)) return *code;
    }
    if (!args_.run.dry_run) return Finish();
    if (args_.run.json) fmt::print("{}\n", JsonText(previews_, 1));
    return kOk;
  }

  static int Refuse(const std::string& why) {
    LogError("backplane: {}\nnothing was started", why);
    return kUsage;
  }

 private:
  // An error, or empty.
  std::string ReadConditions() {
    for (size_t i = 0; i < args_.fail_if.size(); ++i) {
      GateCondition condition;
      std::string why = ReadGateCondition(args_.fail_if[i], &condition);
      if (why.empty()) why = WhyNotMeasured(condition, baseline_);
      if (!why.empty()) return why;
      ConditionGroup& group = condition.speed ? speeds_ : scores_;
      group.request.conditions.push_back(std::move(condition));
      group.places.push_back(i);
    }
    for (ConditionGroup* group : {&scores_, &speeds_}) {
      group->request.baseline = args_.baseline.string();
      group->request.alpha = kAlpha / static_cast<double>(args_.fail_if.size());
    }
    speeds_.request.runs_baseline = true;
    return "";
  }

  int JudgeFolder() {
    if (args_.run.dry_run || args_.run.fresh || args_.run.jobs || !args_.run.out.empty() || !set().empty()) {
      LogError(
          "backplane: {}: expected an experiment file with --dry-run, --fresh, --jobs, --out or --set, got a results folder",
          args_.subject.string());
      return kUsage;
    }
    if (!speeds_.places.empty()) {
      return Refuse(fmt::format(
          "{}: expected an experiment file, got a results folder; to judge a speed, baseline and experiment run in turn",
          speeds_.request.conditions.front().measure));
    }
    scores_.request.folder = args_.subject.string();
    Judge(scores_);
    return Finish();
  }

  // True if no further look is needed.
  bool Judge(const ConditionGroup& group) {
    GateAnswer answer = Ask(group.request);
    const bool decided = std::ranges::all_of(answer.conditions, &GateJudgement::decided) ||
                         std::ranges::any_of(answer.conditions, [](const GateJudgement& one) {
                           return one.verdict == GateVerdict::kInvalid || one.verdict == GateVerdict::kFail;
                         });
    for (size_t i = 0; i < group.places.size(); ++i) judged_[group.places[i]] = std::move(answer.conditions[i]);
    return decided;
  }

  // An exit code if it cannot continue.
  std::optional<int> RunGroup(ConditionGroup* group) {
    const bool speed = group == &speeds_;
    const CompareLooks looks = LooksOfGate(baseline_.trials.size());
    RunArgs run = args_.run;
    run.input.file = args_.subject;
    if (const std::string why = FindExperimentFile(&run.input, false); !why.empty()) return Refuse(why);
    std::optional<Plan> plan = PlanOf(run.input.file);
    if (!plan) return kUsage;
    if (const std::string why = WhyNoSubject(*plan); !why.empty()) {
      return Refuse(fmt::format("{}: {}", run.input.file.string(), why));
    }
    const fs::path folder = args_.run.out.empty() ? fs::path(plan->base.experiment.output_dir + "_gate") : args_.run.out;
    run.out = (folder.has_filename() ? folder : folder.parent_path()).string() + (speed ? "_speed" : "");
    if (const int code = speed ? WriteBothSides(*group, looks, &run) : 0; code != kOk) return code;
    const auto run_of = [&](uint64_t look) {
      PlannedRun planned;
      planned.file = run.input.file;
      planned.set = speed ? sets_ : set();
      planned.plugin_path = run.input.plugin_path;
      planned.out = planned.typed_out = run.out;
      planned.only_by_same = true;
      if (speed) planned.looks = look;
      if (!speed) planned.seeds = SeedsOfBaseline(look * *looks.n);
      return planned;
    };
    group->request.folder = run.out.string();
    group->request.looks = looks;
    if (args_.run.dry_run) return Dry(*group, looks, run, run_of(looks.max));
    folders_.push_back(run.out);
    const uint64_t trials = *looks.n * (speed ? 2 : 1);
    const std::optional<int> code =
        RunLooks({run, Same(), TrialsOfAPoint(run.out) / trials, looks.max, run_of, [&]() -> std::optional<std::string> {
                    if (Judge(*group)) return std::nullopt;
                    for (const size_t place : group->places)
                      if (!args_.run.json && !args_.run.quiet && !judged_[place].decided) SayStanding(judged_[place]);
                    return "";
                  }});
    // A failed run is no evidence of a change for the worse.
    return code && *code != kInterrupted ? kUsage : code;
  }

  const std::vector<std::string>& set() const { return args_.run.input.set; }

  // On stderr, so that the first line of the answer is the verdict.
  static void SayStanding(const GateJudgement& one) {
    LogInfo("not known yet: {}", one.sentence.substr(std::strlen(Word(one.verdict)) + 2));
  }

  std::vector<uint64_t> SeedsOfBaseline(size_t n) const {
    std::vector<uint64_t> seeds;
    for (size_t i = 0; i < std::min(n, baseline_.trials.size()); ++i) seeds.push_back(baseline_.trials[i].seed);
    return seeds;
  }

  std::optional<Plan> PlanOf(const fs::path& file) {
    PlanOptions options{{}, {}, search_.Lookup(), {}, {}};
    options.set = set();
    PlanResult planned = PlanFile(file, std::move(options));
    if (!planned.plan) Complain(planned.errors, file);
    return std::move(planned.plan);
  }

  // The reason why this experiment cannot be compared with the baseline. Empty if it can.
  std::string WhyNoSubject(const Plan& plan) const {
    if (plan.points.size() != 1) return fmt::format("expected one configuration, got {}", plan.points.size());
    const auto own = ReadTolerantly<Comparable>(ToJson(plan.base.experiment)),
               kept = ReadTolerantly<Comparable>(baseline_.config);
    if (own.budget != kept.budget)
      return fmt::format("expected the budget of the baseline, {}, got {}; with unequal budgets, the longer run wins",
                         JsonText(kept.budget), JsonText(own.budget));
    if (own.schedule_budget != kept.schedule_budget)
      return fmt::format(
          "expected the schedule_budget of the baseline, {}, got {}; schedules that follow different budgets train "
          "differently",
          JsonText(kept.schedule_budget), JsonText(own.schedule_budget));
    const std::string &env = own.env.plugin, &before = kept.env.plugin;
    const bool is_file = env.find('/') != std::string::npos || before.find('/') != std::string::npos;
    if (!is_file && env != before) return fmt::format("expected the env of the baseline, {}, got {}", before, env);
    return "";
  }

  // One file with both arms.
  int WriteBothSides(const ConditionGroup& group, const CompareLooks& looks, RunArgs* run) {
    const fs::path kept = GateBaseline::KeptExperiment(args_.baseline);
    sets_ = {"compare.metric=" + group.request.conditions.front().measure,
             fmt::format("compare.looks={{n: {}, max: {}}}", *looks.n, looks.max)};
    run->input.set = sets_;
    both_sides_ = WriteComparison({{kept, {}}, {run->input.file, set()}}, *run);
    if (!both_sides_) return kUsage;
    run->input.file = both_sides_->file;
    return kOk;
  }

  std::optional<int> Dry(const ConditionGroup& group, const CompareLooks& looks, const RunArgs& run,
                         const PlannedRun& planned) {
    const bool speed = group.request.runs_baseline;
    const char* name = speed ? "speeds" : "scores";
    const uint64_t trials = *looks.n * (speed ? 4 : 1);
    if (!args_.run.json)
      fmt::print("{}: {} trials in the first look{}, at most {} in {} looks\n", name, trials,
                 speed ? fmt::format(" ({} blocks of A B B A)", *looks.n) : "", trials * looks.max, looks.max);
    json preview;
    const int code = DryRunOfLooks(planned, run, &preview);
    previews_[name] = {{"trials_of_a_look", trials}, {"looks", looks.max}, {"plan", std::move(preview)}};
    return code == kOk ? std::nullopt : std::optional(code);
  }

  std::string Same() const {
    std::string text = fmt::format("{} gate {} {}", args_.run.typed_program, ShellArgument(args_.baseline.string()),
                                   ShellArgument(args_.subject.string()));
    for (const std::string& condition : args_.fail_if) text += " --fail-if " + ShellArgument(condition);
    for (const std::string& one : set()) text += " --set " + ShellArgument(one);
    text += PluginPathArguments(args_.run.input);
    if (args_.run.jobs) text += fmt::format(" --jobs {}", *args_.run.jobs);
    return args_.run.out.empty() ? text : text + " --out " + ShellArgument(args_.run.out.string());
  }

  // Notes printed with the verdicts.
  std::vector<std::string> Notes() const {
    std::vector<std::string> notes;
    for (const GateJudgement& one : judged_)
      for (const std::string& note : one.notes)
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    if (!scores_.places.empty())  // for speeds, both sides run here
      for (const std::string& other : OtherThanInBaseline(baseline_, scores_.request.folder)) notes.push_back(other);
    if (args_.fail_if.size() > 1)
      notes.push_back(fmt::format("Each of {} conditions is judged at {:.2g} %, so at most 5 % of gates have a wrong verdict.",
                                  args_.fail_if.size(), 100 * kAlpha / static_cast<double>(args_.fail_if.size())));
    return notes;
  }

  static int ExitOf(GateVerdict verdict) {
    switch (verdict) {
      case GateVerdict::kPass: return kOk;
      case GateVerdict::kFail: return kFailed;
      case GateVerdict::kUndecided: return kUndecided;
      case GateVerdict::kInvalid: break;
    }
    return kUsage;
  }

  int Finish() {
    std::vector<GateJudgement> worst_first = judged_;
    std::ranges::stable_sort(worst_first, std::ranges::greater{}, &GateJudgement::verdict);
    const GateVerdict verdict = worst_first.front().verdict;
    const int code = ExitOf(verdict);
    if (args_.run.json) {
      json conditions = json::array();
      for (size_t i = 0; i < judged_.size(); ++i) {
        conditions.push_back(ToJson(judged_[i]));
        conditions.back()["condition"] = args_.fail_if[i];
      }
      json folders = json::array();
      for (const fs::path& folder : folders_) folders.push_back(folder.string());
      fmt::print("{}\n", JsonText({{"verdict", Word(verdict)},
                                   {"exit", code},
                                   {"conditions", conditions},
                                   {"notes", Notes()},
                                   {"baseline", args_.baseline.string()},
                                   {"results", folders}},
                                  1));
      return code;
    }
    for (size_t i = 0; i < worst_first.size(); ++i) {
      if (args_.run.quiet) {
        if (i == 0) fmt::print("{}\n", worst_first[i].sentence);
      } else {
        fmt::print("{}", WrapAfter("", "  ", worst_first[i].sentence, kTextWidth));
      }
    }
    if (args_.run.quiet) return code;
    for (const std::string& note : Notes()) fmt::print("{}", WrapAfter("  ", "    ", note, kTextWidth - 2));
    fmt::print("  baseline: {}, {} seeds\n", args_.baseline.string(), baseline_.trials.size());
    for (const fs::path& folder : folders_) fmt::print("  results:  {}\n", folder.string());
    return code;
  }

  const GateArgs& args_;
  const GateBaseline baseline_;
  PluginSearch search_;
  ConditionGroup scores_, speeds_;
  std::optional<ComparisonFile> both_sides_;
  std::vector<std::string> sets_;      // of that file
  std::vector<GateJudgement> judged_;  // of each condition
  std::vector<fs::path> folders_;      // that were run
  json previews_;                      // of --dry-run --json, by group
};

int GateCommand(const GateArgs& args) {
  LimitOutput();
  GateBaseline baseline;
  try {
    baseline = ReadGateBaseline(args.baseline);
  } catch (const std::exception& e) {
    return GateSession::Refuse(WordsOf(e));
  }
  std::vector<fs::path> subjects = {args.subject};
  if (!ReplaceForeign(&subjects, args.run.typed_program)) return kUsage;
  GateArgs read = args;
  read.subject = subjects.front();
  try {
    return GateSession(read, std::move(baseline)).Run();
  } catch (const std::exception& e) {
    LogError("backplane: {}", WordsOf(e));
    return kUsage;
  }
}

// Files in the wrong order, or no condition.
std::string WrongOrder(const GateArgs& args) {
  const bool swapped =
      args.baseline.extension() == ".yaml" || args.baseline.extension() == ".yml" || IsResultsFolder(args.baseline);
  if (!swapped && !args.fail_if.empty()) return "";
  const std::string what = swapped
                               ? fmt::format("expected a saved baseline as first argument, got '{}'", args.baseline.string())
                               : std::string("expected --fail-if with a condition that fails the gate, got none");
  const fs::path &baseline = swapped ? args.subject : args.baseline, &subject = swapped ? args.baseline : args.subject;
  std::string hint =
      fmt::format("{} gate {} {}", args.run.typed_program, ShellArgument(baseline.string()), ShellArgument(subject.string()));
  for (const std::string& condition : args.fail_if.empty() ? std::vector<std::string>{"eval/return < -5%"} : args.fail_if)
    hint += " --fail-if " + ShellArgument(condition);
  return what + "\nhint: " + hint;
}

void DeclareGate(GateArgs* args, Arguments* add) {
  args->run.typed_program = add->program();
  add->Add("baseline", "FILE", &args->baseline, "File written by `gate save`").Required();
  add->Add("subject", "FILE|OUT|PATH", &args->subject,
           "Experiment file to run until the answer is known, a results folder, or runs of another tool")
      .Required();
  add->Add("--fail-if", "CONDITION", &args->fail_if,
           "Change that fails the gate, such as 'eval/return < -5%' or 'wall_s > 10%'; may be repeated (required)");
  add->Check([args] { return WrongOrder(*args); });
  add->Add("-s,--set", "PATH=VALUE", &args->run.input.set, "Set a value of the file; may be repeated");
  add->PluginPath(&args->run.input.plugin_path);
  add->Add("-o,--out", "OUT", &args->run.out, "Results folder (default: output.dir + _gate)");
  add->Flag("--dry-run", &args->run.dry_run, "Print the largest possible cost; start nothing");
  add->Flag("--fresh", &args->run.fresh, "Move old results to OUT.1 and start from scratch");
  add->Add("-j,--jobs", "N", &args->run.jobs, "Maximum trials at a time; they share the cores").Within(1u, 4096u);
  add->Flag("--json", &args->run.json, "Print the verdict and its evidence as JSON");
  add->Flag("-q,--quiet", &args->run.quiet, "Print only the verdict, in one line");
}

void DeclareSave(GateSaveArgs* args, Arguments* add) {
  args->typed_program = add->program();
  add->Out(&args->out);
  add->Add("--to", "FILE", &args->to, "File to write, such as base.json; plugin files go to base.plugins").Required();
  add->Flag("--no-plugins", &args->no_plugins, "Leave out the plugin files; speeds can then not be judged");
}

}  // namespace

std::vector<Command> GateCommands() {
  return {MakeCommand<GateArgs>(kGateCommand.name, kGateCommand.help, DeclareGate, GateCommand),
          MakeCommand<GateSaveArgs>(kGateSaveCommand.name, kGateSaveCommand.help, DeclareSave, GateSave)};
}

}  // namespace backplane
