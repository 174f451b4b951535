// compare: finds the best of several arms. Runs looks until the answer is known, or judges finished runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "arguments/tool_commands.hpp"
#include "base/json_text.hpp"
#include "base/patient_output.hpp"
#include "base/shell_argument.hpp"
#include "input/experiment_file.hpp"
#include "input/foreign_runs.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"
#include "input/report_program.hpp"
#include "log/log.hpp"
#include "record/compare_answer.hpp"
#include "record/compare_looks.hpp"
#include "record/imported_runs.hpp"
#include "record/report_requests.hpp"
#include "record/results_folder.hpp"
#include "study/commands.hpp"
#include "study/compare_bits_command.hpp"
#include "study/compare_files.hpp"
#include "study/compare_rules.hpp"
#include "study/run_looks.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct CompareArgs {
  std::vector<fs::path> subjects;
  RunArgs run;
  std::string metric, direction, margin;
  bool bits = false;
};

CompareAnswer AskJudge(const JudgeRequest& request) {
  return RecordFromJson<CompareAnswer>(nlohmann::json::parse(ReportProgram().Ask("--judge", ToJson(request))));
}

std::string SameCompare(const CompareArgs& args) {
  std::string text = args.run.typed_program + " compare";
  for (const fs::path& subject : args.subjects) text += " " + ShellArgument(subject.string());
  FileArgs rest = args.run.input;
  rest.file.clear();
  for (const std::string& set : rest.set) text += " --set " + ShellArgument(set);
  if (!rest.preset.empty()) text += " --preset " + ShellArgument(rest.preset);
  text += PluginPathArguments(rest);
  if (!args.metric.empty()) text += " --metric " + ShellArgument(args.metric);
  if (!args.direction.empty()) text += " --direction " + args.direction;
  if (!args.margin.empty()) text += " --margin " + ShellArgument(args.margin);
  if (args.run.jobs) text += fmt::format(" --jobs {}", *args.run.jobs);
  return args.run.out.empty() ? text : text + " --out " + ShellArgument(args.run.out.string());
}

// Runs one comparison, look after look.
class CompareSession {
 public:
  // `same`: the command as it was typed.
  CompareSession(const CompareArgs& args, std::string same)
      : args_(args), same_(std::move(same)), search_(args.run.input.plugin_path) {}

  int Run() {
    std::optional<Plan> plan = WholePlan();
    if (!plan) return kUsage;
    if (!plan->compare) {
      LogError("backplane: {}: expected compare: with the arms, or a second file, got none\nnothing was started\nhint: {}",
               File(), WithOtherFile(plan->base.experiment.budget));
      return kUsage;
    }
    terms_ = *plan->compare;
    out_ = args_.run.out.empty() ? fs::path(plan->base.experiment.output_dir) : args_.run.out;
    if (!plan->dropped.empty()) {
      const DroppedPoint& same = plan->dropped.front();
      LogError("backplane: {}: expected different arms, got one that is the {}{}\nnothing was started", File(), same.rule,
               same.why.empty() ? "" : " (" + same.why + ")");
      return kUsage;
    }
    if (const std::string why = WhyNotThere(); !why.empty() && !args_.run.fresh) {
      LogError("backplane: {}\nnothing was started", why);
      return kUsage;
    }
    if (args_.run.dry_run) return Dry(*plan);
    std::optional<CompareAnswer> answer;
    const Looks looks{args_.run,
                      same_,
                      TrialsOfAPoint(out_) / std::max<uint64_t>(1, SeedsOfALook(terms_, plan->points.size())),
                      terms_.looks.max,
                      [&](uint64_t count) { return RunOf(count); },
                      [&]() -> std::optional<std::string> {
                        answer = AskJudge({{out_.string()}, std::nullopt});
                        return answer->decided || answer->invalid ? std::nullopt : std::optional(answer->sentence);
                      }};
    const std::optional<int> code = RunLooks(looks);
    return code ? *code : Finish(*answer);
  }

 private:
  std::string File() const { return args_.run.input.file.string(); }

  // The comparison with a file of the same name in a folder next to it, else a run.
  std::string WithOtherFile(const BudgetConfig& budget) const {
    const fs::path file = args_.run.input.file;
    std::vector<fs::path> others;
    std::error_code error;
    for (fs::directory_iterator it(file.parent_path().parent_path(), error), end; !error && it != end; it.increment(error))
      if (fs::path other = it->path() / file.filename(); other != file && fs::is_regular_file(other)) others.push_back(other);
    std::ranges::sort(others);
    if (others.empty()) return args_.run.typed_program + " run " + FileArguments(args_.run.input);
    return args_.run.typed_program + " compare " + FileArguments(args_.run.input) + " " +
           ShellArgument(others.front().string()) +
           (budget.env_steps ? fmt::format(" --set budget.env_steps={}", *budget.env_steps) : "");
  }

  std::optional<Plan> WholePlan() {
    PlanOptions options{args_.run.input.set, {}, search_.Lookup(), PresetsFor(args_.run.input), {}};
    PlanResult planned = PlanFile(args_.run.input.file, std::move(options));
    if (!planned.plan) Complain(planned.errors, args_.run.input.file);
    return std::move(planned.plan);
  }

  PlannedRun RunOf(uint64_t looks) const {
    PlannedRun run;
    run.file = args_.run.input.file;
    run.set = args_.run.input.set;
    run.preset = args_.run.input.preset;
    run.plugin_path = args_.run.input.plugin_path;
    run.looks = looks;
    run.out = out_;
    run.typed_out = args_.run.out;
    return run;
  }

  std::string WhyNotThere() const {
    const std::optional<CompareTerms> began = RulesOfResults(out_);
    const std::string changed = began ? ChangedRule(*began, terms_) : "";
    if (changed.empty()) return "";
    return fmt::format(
        "{} contains a comparison with {}, which must not change after a look\nhint: --out OUT writes to a different folder, "
        "--fresh moves the old folder aside",
        out_.string(), changed);
  }

  int Dry(const Plan& plan) {
    const uint64_t points = plan.points.size(), seeds = SeedsOfALook(terms_, points), tasks = terms_.tasks.size();
    if (!args_.run.json)
      fmt::print("{} arms{}, {} seeds per arm and look{}: {} trials in the first look, at most {} in {}\n",
                 points / std::max<uint64_t>(1, tasks), tasks > 0 ? fmt::format(" on {} tasks", tasks) : "", seeds,
                 IsOfSpeed(terms_) ? " (blocks of A B B A)" : "", points * seeds, points * seeds * terms_.looks.max,
                 terms_.looks.max == 1 ? "one look" : fmt::format("{} looks", terms_.looks.max));
    nlohmann::json preview;
    const int code = DryRunOfLooks(RunOf(0), args_.run, &preview);
    if (args_.run.json && code == kOk) fmt::print("{}\n", JsonText(preview, 1));
    return code;
  }

  int Finish(const CompareAnswer& answer) const {
    ReportRequest request = RequestFor(out_, args_.run.typed_program);
    request.width = ReportWidth();
    if (args_.run.json || args_.run.quiet) request.form = args_.run.json ? "json" : "line";
    if (args_.run.quiet && !args_.run.json) fmt::print("{}\n", answer.sentence);
    std::fflush(stdout);
    const int code = ReportProgram().Show("--make", ToJson(request));
    if (code != kOk) return code;
    return answer.invalid ? kFailed : kOk;
  }

  const CompareArgs& args_;
  const std::string same_;
  PluginSearch search_;
  CompareTerms terms_;
  fs::path out_;
};

// Compares all trials of results folders, or all points of one folder of imported runs, in one look.
int CompareFolders(const CompareArgs& args) {
  if (args.run.dry_run || args.run.fresh || args.run.jobs || !args.run.input.set.empty() || !args.run.input.preset.empty()) {
    LogError("backplane: expected an experiment file with --dry-run, --fresh, --jobs, --set or --preset, got results folders");
    return kUsage;
  }
  CompareTerms terms;
  if (args.subjects.size() == 1) terms = RulesOfResults(args.subjects.front()).value_or(terms);
  if (!args.metric.empty()) terms.metric = args.metric;
  if (!args.direction.empty()) terms.direction = args.direction;
  if (!args.margin.empty()) terms.margin = args.margin;
  ReportRequest request = RequestFor(args.subjects.front(), args.run.typed_program);
  for (size_t i = 1; i < args.subjects.size(); ++i) request.folders.push_back(args.subjects[i].string());
  request.kind = "ab";
  request.compare = terms;
  request.width = ReportWidth();
  request.to = args.run.out.string();
  if (args.run.json || args.run.quiet) request.form = args.run.json ? "json" : "line";
  const CompareAnswer answer = AskJudge({request.folders, terms});
  if (args.run.quiet) fmt::print("{}\n", answer.sentence);
  std::fflush(stdout);
  const int code = ReportProgram().Show("--make", ToJson(request));
  return code == kOk && answer.invalid ? static_cast<int>(kFailed) : code;
}

int CompareBitsOf(const CompareArgs& args) {
  const RunArgs& run = args.run;
  if (!args.metric.empty() || !args.direction.empty() || !args.margin.empty() || !run.input.set.empty() ||
      !run.input.preset.empty() || !run.out.empty() || run.dry_run || run.fresh || run.jobs) {
    LogError("backplane: compare --bits: expected no other flags than --json and --quiet");
    return kUsage;
  }
  return CompareBitsCommand(args.subjects, run.json, run.quiet);
}

// Runs of other tools become one folder, whose arms are the paths, unless there are results folders of our own, too. False
// after an error.
bool ReplaceForeignArms(CompareArgs* args) {
  const ForeignChoices choices{args->metric, args->direction, args->subjects.size() > 1};
  if (!std::ranges::all_of(args->subjects, MayBeForeign))
    return ReplaceForeign(&args->subjects, args->run.typed_program, choices);
  const std::optional<fs::path> made = ImportForeign(args->subjects, args->run.typed_program, choices);
  if (made && !made->empty()) args->subjects = {*made};
  return made.has_value();
}

int CompareCommand(const CompareArgs& given) {
  if (given.bits) return CompareBitsOf(given);
  CompareArgs args = given;
  if (!ReplaceForeignArms(&args)) return kUsage;
  if (args.subjects.size() == 1 && ImportedRunsIn(args.subjects.front())) return CompareFolders(args);
  const auto folders = std::ranges::count_if(args.subjects, IsResultsFolder);
  if (folders > 0 && static_cast<size_t>(folders) == args.subjects.size() && folders > 1) return CompareFolders(args);
  LimitOutput();
  if (folders > 0 && args.subjects.size() > 1) {
    LogError("backplane: compare: expected a file, two files or results folders, got files and folders\nnothing was started");
    return kUsage;
  }
  if (folders == 1) {
    const std::optional<RunArgs> command = CommandOf([&] {
      RunArgs run = args.run;
      run.input.file = args.subjects.front();
      return run;
    }());
    if (!command) return kUsage;
    args.run = *command;
    args.subjects = {command->input.file};
  }
  if (!args.metric.empty()) args.run.input.set.push_back("compare.metric=" + args.metric);
  if (!args.direction.empty()) args.run.input.set.push_back("compare.direction=" + args.direction);
  if (!args.margin.empty()) args.run.input.set.push_back("compare.margin=" + args.margin);
  args.run.input.file = args.subjects.front();
  std::optional<ComparisonFile> file;
  if (args.subjects.size() > 1) {
    std::vector<ArmFile> arms;
    for (const fs::path& subject : args.subjects) arms.push_back({subject, args.run.input.set});
    file = WriteComparison(arms, args.run);
    if (!file) return kUsage;
    args.run.input.file = file->file;
    args.run.out = file->out;
    args.run.input.preset.clear();
  }
  return CompareSession(args, SameCompare(given)).Run();
}

void DeclareCompare(CompareArgs* args, Arguments* add) {
  args->run.typed_program = add->program();
  add->Add("subject", "FILE|OUT|PATH", &args->subjects,
           "Experiment file with compare:, two files, two results folders, or runs of other tools")
      .Required();
  add->Flag("--bits", &args->bits, "Find the first iteration, phase and tensor that differ in their bits");
  add->Add("--metric", "MEASURE", &args->metric, "Measure to compare (default: eval/return, or return)");
  add->Add("--direction", "WORD", &args->direction, "Better direction, if it is unknown for the measure: up or down")
      .OneOf({"up", "down"});
  add->Add("--margin", "PERCENT", &args->margin,
           "Smallest difference that matters, such as 5%; enables the verdict \"equivalent\"");
  add->Add("-s,--set", "PATH=VALUE", &args->run.input.set, "Set a value of the file; may be repeated");
  add->Add("--preset", "NAME", &args->run.input.preset, "Settings for a kind of machine");
  add->PluginPath(&args->run.input.plugin_path);
  add->Add("-o,--out", "OUT", &args->run.out, "Results folder (default: output.dir), or folder for the report of OUT");
  add->Flag("--dry-run", &args->run.dry_run, "Print the largest possible cost; start nothing");
  add->Flag("--fresh", &args->run.fresh, "Move old results to OUT.1 and start from scratch");
  add->Add("-j,--jobs", "N", &args->run.jobs, "Maximum trials at a time; they share the cores").Within(1u, 4096u);
  add->Flag("--json", &args->run.json, "Print the report as JSON");
  add->Flag("-q,--quiet", &args->run.quiet, "Print only the verdict, in one line");
}

}  // namespace

std::vector<Command> CompareCommands() {
  return {MakeCommand<CompareArgs>(kCompareCommand.name, kCompareCommand.help, DeclareCompare, CompareCommand)};
}

}  // namespace backplane
