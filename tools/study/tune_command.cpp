// tune: applies proposed changes one at a time, keeps those that gain, and checks that learning does not suffer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "arguments/tool_commands.hpp"
#include "base/file_name.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/patient_output.hpp"
#include "base/shell_argument.hpp"
#include "base/suggest.hpp"
#include "log/log.hpp"
#include "record/compare_terms.hpp"
#include "record/host_info.hpp"
#include "record/results_lock.hpp"
#include "study/commands.hpp"
#include "study/host_program.hpp"
#include "study/speed_subject.hpp"
#include "study/tune_batches.hpp"
#include "study/tune_record.hpp"
#include "study/tune_text.hpp"
#include "text/units.hpp"
#include "yaml/recommended_file.hpp"

namespace backplane {
namespace {

struct TuneArgs {
  FileArgs input;
  std::string typed_program;
  std::string point;            // of the file's sweep; empty: chosen by ReadSubjectToTune
  std::string measure = "SPS";  // the measure to improve
  double budget_s = 600;        // wall time of the measurements, without the check of learning
  double seconds = 8;           // training time per trial
  uint64_t seeds = 4;           // trials per side
  bool no_check = false;
  uint64_t check_steps = 0;   // env steps per trial of the check; 0: the experiment's own budget, if it is short
  std::string check_measure;  // empty: eval/return, or return without evaluations
  std::filesystem::path out;  // empty: outputs/<experiment>_tune
  bool fresh = false, dry_run = false, json = false;
};

using nlohmann::json;

std::filesystem::path TuneFolder(const TuneArgs& args, const Experiment& experiment) {
  return args.out.empty() ? std::filesystem::path("outputs") / (experiment.name + "_tune") : FolderName(args.out);
}

// "10m", "90s".
std::string TimeText(double seconds) {
  const bool whole_minutes = seconds >= 60 && std::fmod(seconds, 60) == 0;
  return whole_minutes ? fmt::format("{:g}m", seconds / 60) : FormatDuration(seconds);
}

std::string SameTune(const TuneArgs& args) {
  std::string text = args.typed_program + " tune " + FileArguments(args.input);
  const TuneArgs defaults;
  if (!args.point.empty()) text += " --point " + ShellArgument(args.point);
  if (args.measure != defaults.measure) text += " --for " + ShellArgument(args.measure);
  if (args.budget_s != defaults.budget_s) text += " --budget " + TimeText(args.budget_s);
  if (args.seconds != defaults.seconds) text += fmt::format(" --seconds {:g}", args.seconds);
  if (args.seeds != defaults.seeds) text += fmt::format(" --seeds {}", args.seeds);
  if (args.check_steps > 0) text += fmt::format(" --check-steps {}", args.check_steps);
  if (!args.check_measure.empty()) text += " --check-metric " + ShellArgument(args.check_measure);
  if (args.no_check) text += " --no-check";
  return args.out.empty() ? text : text + " --out " + ShellArgument(args.out.string());
}

// Different values would produce different trials, so a tuning only resumes with equal ones.
json Asked(const TuneArgs& args, const Experiment& experiment) {
  json whole = ToJson(experiment);
  for (const char* key : {"budget", "output", "report"}) whole.erase(key);
  return {{"experiment", whole}, {"for", args.measure}, {"seconds", args.seconds}, {"seeds", args.seeds}};
}

std::string WhyNotThere(const std::filesystem::path& out, const TuneRecord& record, const json& asked) {
  if (record.asked.is_null()) {
    const bool is_free = !std::filesystem::exists(out) || std::filesystem::is_empty(out);
    return is_free ? ""
                   : fmt::format("{} is not empty and contains no tuning\nhint: --out OUT writes to a different folder",
                                 out.string());
  }
  const std::string difference = DifferenceOf(record.asked, asked);
  if (difference.empty()) return "";
  return fmt::format("{} contains a different tuning ({})\nhint: --fresh moves it aside", out.string(), difference);
}

// Moves it to OUT.1 or the next free name. Throws std::runtime_error if one of its batches still runs, or if it is no tuning.
void MoveTuningAside(const std::filesystem::path& out) {
  if (!std::filesystem::exists(out) || std::filesystem::is_empty(out)) return;
  if (!std::filesystem::exists(out / "tune.json"))
    throw std::runtime_error(out.string() + ": expected a tuning, got a folder without tune.json; --fresh moves only tunings");
  std::vector<std::filesystem::path> batches = {out / "check"};
  for (const auto& entry : std::filesystem::directory_iterator(out / "steps")) batches.push_back(entry.path());
  for (const auto& batch : batches) {
    if (std::filesystem::exists(batch / "lock") && !IsFree(batch)) throw std::runtime_error(batch.string() + " is in use");
  }
  for (unsigned number = 1;; ++number) {
    const std::filesystem::path aside = out.string() + "." + std::to_string(number);
    if (std::filesystem::exists(aside)) continue;
    std::filesystem::rename(out, aside);
    LogInfo("moved {} to {}", out.string(), aside.string());
    return;
  }
}

int DryRunTune(const TuneArgs& args, const Experiment& experiment, const std::filesystem::path& out, const TuneRecord& record) {
  size_t measured = 0;
  for (const StepTime& time : record.times) measured += time.whole ? 1 : 0;
  const uint64_t trials = 2 * args.seeds;
  const double pair_s = static_cast<double>(trials) * args.seconds;
  if (args.json) {
    const json plan = {{"experiment", experiment.name},
                       {"out", out.string()},
                       {"for", args.measure},
                       {"budget_s", args.budget_s},
                       {"trials_as_it_is", kSeedsAsItIs},
                       {"trials_of_a_step", trials},
                       {"seconds_of_a_trial", args.seconds},
                       {"steps_measured", measured},
                       {"trials_of_the_check", args.no_check ? 0 : 2 * kSeedsOfCheck}};
    std::printf("%s\n", JsonText(plan, 1).c_str());
    return kOk;
  }
  fmt::print("{}: tuning for {} takes at most {}, results in {}\n", experiment.name, args.measure, TimeText(args.budget_s),
             out.string());
  fmt::print(
      "  unchanged: {} trials of {:g} s\n  per proposed change: {} trials ({} per side, in turn), {:.0f} s plus their starts\n",
      kSeedsAsItIs, args.seconds, trials, args.seeds, pair_s);
  if (args.no_check) {
    fmt::print("  no check of learning\n");
  } else {
    fmt::print(
        "  check of learning, in addition: {} trials, each with the experiment's own budget or {}, at most {:g} s\n"
        "  per trial; {} more per step that is taken back\n",
        2 * kSeedsOfCheck, args.check_steps > 0 ? fmt::format("of {} env steps", args.check_steps) : "as many env steps as fit",
        kLongestCheckTrial_s, kSeedsOfCheck);
  }
  if (measured > 0) fmt::print("  {} of these measurements are finished and will not run again\n", measured);
  fmt::print("nothing was started\n");
  return kOk;
}

// Arguments to train the tuned experiment like the original.
std::string BudgetArguments(const BudgetConfig& budget) {
  std::string text;
  if (budget.iterations) text += fmt::format(" --set budget.iterations={}", *budget.iterations);
  if (budget.env_steps) text += fmt::format(" --set budget.env_steps={}", *budget.env_steps);
  if (budget.episodes) text += fmt::format(" --set budget.episodes={}", *budget.episodes);
  if (budget.epochs) text += fmt::format(" --set budget.epochs={}", *budget.epochs);
  if (budget.wall_time_s) text += " --set budget.wall_time=" + FormatDuration(*budget.wall_time_s);
  return text.empty() ? std::string(" ") + kSomeBudget : text;
}

class TuneSession {
 public:
  TuneSession(const TuneArgs& args, const Experiment& experiment, const std::filesystem::path& out, TuneRecord record)
      : args_(args), experiment_(experiment), out_(out), record_(std::move(record)), batches_(SetupOf(), &record_) {}

  int Run() {
    tuning_ = Tune(&batches_, args_.budget_s, [&](const TuningStep& step) { Tell(step); });
    if (!tuning_.failed.empty()) {
      Finish(nullptr, {});
      LogError("backplane: the unchanged {} has no {}: {}", experiment_.name, args_.measure, tuning_.failed);
      return batches_.was_refused() ? kUsage : kFailed;
    }
    if (tuning_.interrupted) return Interrupted(nullptr);
    std::filesystem::path tuned = WriteTuned(nullptr);
    if (args_.no_check) return Finish(nullptr, tuned);
    LearningCheck check;
    if (const CheckLength length = batches_.LengthOfCheck(); !HasLimit(length.budget)) {
      check.why_none = "Learning was not checked, because its length is unknown; set --check-steps N.";
    } else {
      check = CheckLearning(&batches_, &tuning_);
    }
    if (check.interrupted) return Interrupted(&check);
    tuned = WriteTuned(&check);
    return Finish(&check, tuned);
  }

 private:
  static bool HasLimit(const BudgetConfig& budget) {
    return budget.iterations || budget.env_steps || budget.episodes || budget.epochs || budget.wall_time_s;
  }

  TuneSetup SetupOf() const {
    return {experiment_,   out_,        args_.input.plugin_path, args_.typed_program, args_.measure,
            args_.seconds, args_.seeds, args_.check_steps,       args_.check_measure, !DeviceFacts().empty(),
            args_.json};
  }

  void Tell(const TuningStep& step) const {
    if (args_.json) return;
    fmt::print("  {}\n", DecisionText(step));
    std::fflush(stdout);
  }

  // Empty: no change was kept; removes the file of an earlier session.
  std::filesystem::path WriteTuned(const LearningCheck* check) const {
    std::filesystem::path file = out_ / "report" / "tuned.yaml";
    const std::vector<Change> kept = tuning_.Kept();
    std::error_code error;
    std::filesystem::remove(file, error);
    if (kept.empty()) return {};
    std::filesystem::create_directories(file.parent_path());
    WriteFileAtomic(
        file, RecommendedFile(batches_.With(kept), "_tuned", TunedComments(tuning_, check, experiment_.name, args_.measure)));
    return file;
  }

  void Record(const LearningCheck* check, const std::filesystem::path& tuned) {
    record_.result = TuneJson(tuning_, check, args_.measure, tuned);
    record_.Write();
    if (args_.json) std::printf("%s\n", JsonText(record_.result, 1).c_str());
  }

  int Interrupted(const LearningCheck* check) {
    Record(check, {});
    if (!args_.json) fmt::print("{}interrupted\n  resume: {}\n", StepTable(tuning_, args_.measure), SameTune(args_));
    return kInterrupted;
  }

  int Finish(const LearningCheck* check, const std::filesystem::path& tuned) {
    Record(check, tuned);
    if (args_.json || !tuning_.failed.empty()) return kOk;
    const std::string table = StepTable(tuning_, args_.measure);
    fmt::print("\n{}{}{}", table, table.empty() ? "" : "\n", OutcomeText(tuning_, check, args_.measure, args_.budget_s));
    fmt::print("{}", check ? CheckText(*check) : "learning was not checked (--no-check)\n");
    if (!tuned.empty()) {
      fmt::print("  file:   {}\n  next:   {} run {}{}{}\n", tuned.string(), args_.typed_program, ShellArgument(tuned.string()),
                 PluginPathArguments(args_.input), BudgetArguments(experiment_.budget));
    }
    fmt::print("  all numbers: {}\n", record_.file.string());
    return kOk;
  }

  const TuneArgs& args_;
  const Experiment& experiment_;
  const std::filesystem::path out_;
  TuneRecord record_;
  TuneBatches batches_;
  Tuning tuning_;
};

int TuneCommand(const TuneArgs& args) {
  LimitOutput();
  PluginSearch search(args.input.plugin_path);
  const std::optional<SpeedSubject> subject = ReadSubjectToTune(args.input, args.point, &search);
  if (!subject) return kUsage;
  const Experiment& experiment = subject->experiment;
  for (const std::string& note : subject->notes) LogInfo("{}", note);
  const std::filesystem::path out = TuneFolder(args, experiment);
  TuneRecord record{out / "tune.json", {}, {}, {}};
  const json asked = Asked(args, experiment);
  try {
    if (!args.fresh) record = ReadTuneRecord(out);
    if (const std::string why = WhyNotThere(out, record, asked); !args.fresh && !why.empty()) throw std::runtime_error(why);
    if (args.dry_run) return DryRunTune(args, experiment, out, record);
    if (args.fresh) MoveTuningAside(out);
  } catch (const std::runtime_error& error) {
    LogError("backplane: {}\nnothing was started", error.what());
    return kUsage;
  }
  record.asked = asked;
  std::filesystem::create_directories(out / "steps");
  record.Write();
  try {
    return TuneSession(args, experiment, out, std::move(record)).Run();
  } catch (const HostEnded& ended) {
    return ended.code;
  }
}

// A measure with a name that is never recorded. Metrics of plugins have a '/' in their names.
std::string WhyNoMeasure(const TuneArgs& args, const std::string& command) {
  const std::vector<std::string> known = {"SPS", "sampling_sps", "wall_s", "iteration_s", "cpu_s", "return", "rss_peak_mb"};
  const bool is_metric = args.measure.find('/') != args.measure.npos;
  if (is_metric || IsOfSpeed(args.measure) || std::ranges::count(known, args.measure) != 0) return "";
  const std::vector<std::string> near = Nearest(args.measure, Candidates(known));
  return fmt::format("--for: expected {} or a metric such as eval/return, got '{}'\nhint: {} {} --for {}",
                     fmt::join(known, ", "), args.measure, command, FileArguments(args.input),
                     near.empty() ? known.front() : near.front());
}

}  // namespace

std::vector<Command> TuneCommands() {
  const auto declare = [](TuneArgs* args, Arguments* add) {
    args->typed_program = add->program();
    AddFile(add, &args->input);
    add->Add("--for", "MEASURE", &args->measure, "Measure to improve: a speed, or any measure with positive values")
        .ShowsDefault();
    add->Check([args, command = add->program() + " " + add->command()] { return WhyNoMeasure(*args, command); });
    add->Add("--budget", "TIME", "Time for the measurements, such as 10m, without the check of learning",
             [args](const std::string& text) -> std::string {
               args->budget_s = ParseDuration(text).value_or(0);
               return args->budget_s > 0 ? "" : "expected a time such as 10m or 90s, got '" + text + "'";
             })
        .ShowsDefault("10m");
    add->Add("--point", "NAME", &args->point,
             "Point of the sweep to tune (default: the file without its sweep, or the first tunable point)");
    add->Add("--seconds", "S", &args->seconds, "Training time per trial, or four iterations if longer")
        .ShowsDefault()
        .Within(0.1, 86400.0);
    add->Add("--seeds", "N", &args->seeds, "Trials per side of a measurement")
        .ShowsDefault()
        .Within(uint64_t{3}, uint64_t{1000});
    const Argument no_check = add->Flag("--no-check", &args->no_check, "Skip the check of learning");
    add->Add("--check-steps", "N", &args->check_steps,
             "Env steps per trial of the check (default: the budget, up to two minutes)")
        .Within(uint64_t{1}, uint64_t{1} << 60)
        .Excludes(no_check);
    add->Add("--check-metric", "MEASURE", &args->check_measure,
             "Measure that must not get worse (default: eval/return, or return)")
        .Excludes(no_check);
    add->Add("-o,--out", "OUT", &args->out, "Results folder (default: outputs/EXPERIMENT_tune)");
    add->Flag("--dry-run", &args->dry_run, "Print the measurements and their duration; start nothing");
    add->Flag("--fresh", &args->fresh, "Move an older tuning to OUT.1 and start from scratch");
    add->Flag("--json", &args->json, "Print the result as JSON");
  };
  return {MakeCommand<TuneArgs>(kTuneCommand.name, kTuneCommand.help, declare, TuneCommand)};
}

}  // namespace backplane
