// dev: trains an experiment with each new build of a plugin.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/interrupt.hpp"
#include "base/scratch_folder.hpp"
#include "batch/attempt.hpp"
#include "batch/local_engine.hpp"
#include "batch/option_check.hpp"
#include "cli/build_watch.hpp"
#include "cli/commands.hpp"
#include "cli/dev_table.hpp"
#include "cli/plugin_check.hpp"
#include "contract/checkpoint_files.hpp"
#include "input/load_file.hpp"
#include "input/preset_places.hpp"
#include "log/log.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_search.hpp"
#include "record/attempt_json.hpp"
#include "record/stacks.hpp"
#include "record/warning_text.hpp"
#include "screen/progress.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct DevArgs {
  fs::path plugin, out;
  FileArgs input;
};

constexpr int kTick_ms = 30;
// From being asked to end until it is killed: an iteration is waited for, and the next build is not kept waiting by a hang.
constexpr double kLeastGrace_s = 1, kMostGrace_s = 30;
constexpr double kShownEvery_s = 0.15;
constexpr size_t kShownStacks = 8;  // lines

// The folder of the builds: the person's, or one that is gone at the end.
class BuildsFolder {
 public:
  explicit BuildsFolder(const fs::path& kept) {
    if (kept.empty()) {
      scratch_.emplace();
    } else {
      fs::create_directories(kept);
      kept_ = fs::absolute(kept).lexically_normal();
    }
  }
  const fs::path& path() const { return scratch_ ? scratch_->path() : kept_; }

 private:
  std::optional<ScratchFolder> scratch_;
  fs::path kept_;
};

// Finds the plugins of a build where the experiment names their ids or the file, and all others where they are.
class BuildLookup {
 public:
  BuildLookup(const Build& build, const fs::path& file, PluginLookup others)
      : build_(build), file_(fs::weakly_canonical(file)), others_(std::move(others)) {}

  const PluginInfo* Find(uint32_t kind, const std::string& name, const std::vector<fs::path>& plugin_path,
                         std::string* why_not) {
    for (const PluginInfo& info : build_.plugins)
      if (info.kind == kind && Names(name, info)) return used_ = true, &info;
    return others_(kind, name, plugin_path, why_not);
  }
  bool used() const { return used_; }

 private:
  bool Names(const std::string& name, const PluginInfo& info) const {
    if (name == info.id || name == info.short_id() || std::ranges::find(info.aliases, name) != info.aliases.end()) return true;
    std::error_code error;
    return (name.find('/') != std::string::npos || name.ends_with(".so")) && fs::weakly_canonical(name, error) == file_;
  }

  const Build& build_;
  const fs::path file_;
  const PluginLookup others_;
  bool used_ = false;
};

// The trial of a build, from its start to its end.
struct BuildTrial {
  unsigned build = 0;
  double whole_s = 0, started_s = 0;
  std::string trial_id;
  fs::path checkpoint_dir;
  std::unique_ptr<Attempt> attempt;
  Allocation allocation;
  JobId job = 0;
  bool told_that_it_runs = false;
  double next_shown_s = 0;
  std::unique_ptr<Progress> progress;
};

class Dev {
 public:
  Dev(const DevArgs& args, const fs::path& plugin)
      : args_(args),
        plugin_(plugin),
        folder_(args.out),
        watch_(plugin, args.input.file, folder_.path()),
        search_(args.input.plugin_path),
        pool_(ThisMachine(), {}),
        engine_(OwnProgram()) {}

  int Run() {
    Say(fmt::format("watching {}; Ctrl-C stops", plugin_.string()));
    while (InterruptScope::Count() == 0) {
      for (const JobEnd& end : engine_.Wait(kTick_ms)) Ended(end);
      LookAtTrial();
      if (const std::optional<Build> build = watch_.Look()) {
        StopTrial();
        if (InterruptScope::Count() > 0 || !TryToBegin(*build)) break;
      } else if (const auto why_not = watch_.WhyNot()) {
        Say("waiting for a complete plugin: " + *why_not);
      }
    }
    StopTrial();
    return refused_ ? kUsage : kOk;
  }

 private:
  void Say(const std::string& text) {
    if (trial_ && trial_->progress) return trial_->progress->Note(text);
    std::fputs(NoteLines(text, screen_).c_str(), stderr);
  }
  fs::path FolderOf(unsigned build) const { return folder_.path() / fmt::format("build-{}", build); }

  // A sentence about a build's copy, which is gone with `dev`, is about the file that the person knows.
  std::string WithOwnFile(std::string text, const Build& build) const {
    const std::string copy = (build.folder / plugin_.filename()).string(), own = plugin_.string();
    for (size_t at = text.find(copy); at != std::string::npos; at = text.find(copy, at + own.size()))
      text.replace(at, copy.size(), own);
    return text;
  }

  bool TryToBegin(const Build& build) try { return Begin(build); } catch (const std::runtime_error& e) {
    Say(std::string("nothing was started: ") + e.what());
    return true;
  }

  // False if the first build fails for a reason that no later build can fix.
  bool Begin(const Build& build) {
    const bool first = !began_;
    const auto refuse = [&] {
      refused_ = first;
      return !first;
    };
    BuildLookup lookup(build, plugin_, search_.Lookup());
    const auto find = [&](auto&&... arguments) { return lookup.Find(arguments...); };
    const PlanResult planned =
        PlanFile(args_.input.file, {args_.input.set, {}, find, PresetsFor(args_.input), DefaultsUnder({})});
    if (!planned.plan) return Complain(planned.errors, args_.input.file), refuse();
    const Plan& plan = *planned.plan;
    if (plan.base.experiment.HasCommand()) {
      LogError("{}: learner: expected a plugin, got a command", args_.input.file.string());
      return refuse();
    }
    if (!lookup.used() && !watch_.IsPython()) {
      std::string ids;
      for (const PluginInfo& info : build.plugins) ids += (ids.empty() ? "" : ", ") + info.id;
      LogError("{0}: expected an env or learner of {2} ({1}), got {3} and {4}", args_.input.file.string(), ids,
               plugin_.string(), plan.base.env->id, plan.base.learner->id);
      return refuse();
    }
    if (plan.trials.empty()) return LogError("{}: the plan has no trial", args_.input.file.string()), refuse();
    if (first && plan.trials.size() > 1)
      Say(fmt::format("{} plans {} trials; only the first one runs", args_.input.file.string(), plan.trials.size()));
    began_ = true;
    AttemptPlace place{build.folder / "results", TrialProgram(), FindTorchLib(), {}, nullptr, state_};
    const std::optional<std::string> not_taken = Check(plan, build, &place);
    if (!not_taken) return true;
    Start(plan, place, build, *not_taken);
    return true;
  }

  // Absent if the build must not start. Otherwise why it does not resume the state of the build before; empty if it does or
  // there is none.
  std::optional<std::string> Check(const Plan& plan, const Build& build, AttemptPlace* place) {
    try {
      CheckedOptions checked = CheckOptions(plan, {0}, *place, &engine_, &pool_);
      std::string not_taken = checked.not_taken;
      if (!checked.failed.empty() && place->start_from && !checked.interrupted) {
        // It may be the state that it cannot bear.
        const std::string error = checked.failed.front().error;
        place->start_from.reset();
        checked = CheckOptions(plan, {0}, *place, &engine_, &pool_);
        if (checked.failed.empty()) not_taken = error;
      }
      if (checked.interrupted) return std::nullopt;
      for (FailedCheck& failed : checked.failed)
        for (std::string* text : {&failed.error, &failed.cause}) *text = WithOwnFile(*text, build);
      for (const SaidOnce& said : SayOnce(plan, checked.failed)) PrintError(said);
      if (!checked.failed.empty()) {
        Say("waiting for the next build");
        return std::nullopt;
      }
      if (!not_taken.empty()) place->start_from.reset();
      return not_taken;
    } catch (const std::runtime_error& e) {
      Say(std::string("nothing was started: ") + e.what());
      return std::nullopt;
    }
  }

  void Start(const Plan& plan, const AttemptPlace& place, const Build& build, const std::string& not_taken) try {
    const PlannedTrial& planned = plan.trials.front();
    LoadedExperiment loaded = plan.Load(planned);
    pool_.Require(loaded.experiment.resources);
    const Allocation allocation = pool_.Take(loaded.experiment.resources, /*exclusive=*/false).value();
    loaded.experiment.resources.device_memory = pool_.MemoryOfDevice(loaded.experiment.resources, allocation);
    BuildTrial trial;
    trial.build = build.number;
    trial.whole_s = build.whole_s;
    trial.trial_id = planned.id;
    trial.checkpoint_dir = TrialFolderOf(place.out, planned.id).checkpoint();
    trial.allocation = allocation;
    try {
      trial.attempt = std::make_unique<Attempt>(place, loaded, planned.id, "", allocation);
      trial.job = engine_.Start(trial.attempt->Command());
    } catch (...) {
      pool_.Give(allocation);
      throw;
    }
    trial.started_s = BuildWatch::Now_s();
    std::string from = state_ ? fmt::format(", with the learner of build {}", state_build_) : "";
    if (!not_taken.empty())
      from = fmt::format(" from scratch because the state of build {} does not fit: {}", state_build_, not_taken);
    Say(fmt::format("build {} starts{}", build.number, from));
    trial.progress = std::make_unique<Progress>(stderr, screen_, loaded.experiment.budget);
    trial_ = std::move(trial);
  } catch (const std::runtime_error& e) {
    Say(std::string("nothing was started: ") + e.what());
  }

  void LookAtTrial() {
    if (!trial_) return;
    const std::optional<StatusFile> status = engine_.Status(trial_->job);
    const double elapsed_s = BuildWatch::Now_s() - trial_->started_s;
    if (const auto how = trial_->attempt->Look(status, elapsed_s)) engine_.Stop(trial_->job, *how);
    if (!status) return;
    if (!trial_->told_that_it_runs && status->phase[0] != '\0' && !std::string_view(status->phase).starts_with("load")) {
      trial_->told_that_it_runs = true;
      Say(fmt::format("build {} runs {:.2f} s after its file was complete", trial_->build,
                      BuildWatch::Now_s() - trial_->whole_s));
      trial_->progress->Clear();  // where both streams are one screen
      std::fputs(FormatRunning(before_ ? &*before_ : nullptr, trial_->build).c_str(), stdout);
      std::fflush(stdout);
    }
    if (!trial_->told_that_it_runs || elapsed_s < trial_->next_shown_s) return;
    trial_->next_shown_s = elapsed_s + kShownEvery_s;
    trial_->progress->Update(*status, elapsed_s);
  }

  // It ends with its iteration; one that takes no notice is killed.
  void StopTrial() {
    if (!trial_) return;
    const auto& last = trial_->attempt->last();
    const double runs_s = BuildWatch::Now_s() - trial_->started_s;
    const double iteration_s = last && last->iteration > 0 ? runs_s / static_cast<double>(last->iteration) : 0;
    const double until_s = BuildWatch::Now_s() + std::clamp(3 * iteration_s, kLeastGrace_s, kMostGrace_s);
    trial_->attempt->Interrupted();
    engine_.Stop(trial_->job, StopHow::kAsk);
    const int interrupts = InterruptScope::Count();
    for (bool killed = false; trial_;) {
      for (const JobEnd& end : engine_.Wait(kTick_ms)) Ended(end);
      if (!killed && trial_ && (BuildWatch::Now_s() > until_s || InterruptScope::Count() > interrupts)) {
        engine_.Stop(trial_->job, StopHow::kKill);
        killed = true;
      }
    }
  }

  void Ended(const JobEnd& end) {
    if (!trial_ || end.job != trial_->job) return;
    BuildTrial trial = std::move(*trial_);
    trial_.reset();
    trial.progress.reset();  // takes the live line away
    pool_.Give(trial.allocation);
    const Attempt::Ended ended = trial.attempt->Finish(end);
    const TrialResult result = ReadResult(AttemptFolder(trial.attempt->folder()));
    for (const std::string& warning : ended.warnings) Say("warning: " + WarningOnOneLine(warning));
    if (ended.verdict.state == TrialState::kFailed) TellFailure(trial, ended.verdict, result);
    const BuildMeasures now = MeasuresOf(trial.build, result, trial.attempt->last());
    std::fputs(FormatBuilds(before_ ? &*before_ : nullptr, now).c_str(), stdout);
    std::fflush(stdout);
    before_ = now;
    const unsigned old = state_build_;
    if (HasCheckpoint(trial.checkpoint_dir)) {
      state_ = StartFrom{trial.trial_id, trial.checkpoint_dir, /*may_be_broken_off=*/true};
      state_build_ = trial.build;
    }
    // Only the build whose state the next one resumes is needed. With --out, all are kept.
    std::error_code error;
    for (unsigned number = old == 0 ? 1 : old; args_.out.empty() && number < trial.build; ++number)
      if (number != state_build_) fs::remove_all(FolderOf(number), error);
    if (ended.verdict.state == TrialState::kCompleted)
      Say(fmt::format("build {} finished; waiting for the next build", trial.build));
  }

  void TellFailure(const BuildTrial& trial, const AttemptVerdict& verdict, const TrialResult& result) {
    Say(fmt::format("build {} failed: {}", trial.build, verdict.why));
    const std::vector<std::string> stack = StackOf(result.stacks, result.plugin);
    for (size_t i = 0; i < std::min(stack.size(), kShownStacks); ++i) Say("  " + stack[i]);
    if (!args_.out.empty()) Say("  its log: " + AttemptFolder(trial.attempt->folder()).standard_error().string());
  }

  const DevArgs& args_;
  const fs::path plugin_;
  const Screen screen_ = DetectScreen(fileno(stderr));
  const InterruptScope interrupts_;
  BuildsFolder folder_;
  BuildWatch watch_;
  PluginSearch search_;
  ResourcePool pool_;
  LocalEngine engine_;
  std::optional<BuildTrial> trial_;  // that runs
  std::optional<BuildMeasures> before_;
  std::optional<StartFrom> state_;  // for the next build to begin with
  unsigned state_build_ = 0;        // whose that is
  bool began_ = false, refused_ = false;
};

int DevCommand(const DevArgs& args) { return Dev(args, fs::absolute(args.plugin).lexically_normal()).Run(); }

}  // namespace

std::vector<Command> DevCommands() {
  const auto declare = [](DevArgs* args, Arguments* add) {
    add->Add("plugin", "X.so|X.py", &args->plugin, "Plugin or Python file to watch; each build is loaded").Required();
    AddFile(add, &args->input);
    add->Add("-o,--out", "OUT", &args->out, "Folder to keep all builds and their trials in");
  };
  return {
      MakeCommand<DevArgs>("dev", "Train with each new build of a plugin, from the learner's last state", declare, DevCommand)};
}

}  // namespace backplane
