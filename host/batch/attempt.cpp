#include "batch/attempt.hpp"

#include <cstdlib>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/signal_text.hpp"
#include "batch/leftovers.hpp"
#include "contract/checkpoint_files.hpp"
#include "contract/start_source.hpp"
#include "record/attempt_json.hpp"
#include "record/stacks.hpp"

namespace backplane {
namespace {

constexpr size_t kLogTailLines = 10;

// Fields of result.json that the supervisor adds if the trial did not write them.
struct Known {
  int schema = kTrialSchema;
  std::string trial_id;
  uint64_t attempt = 0;
  double wall_s = 0;
  std::optional<uint64_t> iterations = {}, env_steps = {}, episodes = {};
  std::optional<std::string> phase = {}, plugin = {};

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema", self.schema);
    visit("trial_id", self.trial_id);
    visit("attempt", self.attempt);
    visit("wall_s", self.wall_s);
    visit("iterations", self.iterations);
    visit("env_steps", self.env_steps);
    visit("episodes", self.episodes);
    visit("phase", self.phase);
    visit("plugin", self.plugin);
  }
};

struct Judgement : FailureNote {
  TrialState state;
  Outcome outcome;
  bool on_device;
  std::string error;

  static constexpr void Fields(auto& self, auto&& visit) {
    FailureNote::Fields(self, visit);
    visit("state", self.state);
    visit("outcome", self.outcome);
    visit("on_device", self.on_device);
    visit("error", self.error);
  }
};

struct Warned {
  std::vector<std::string> warnings;

  static constexpr void Fields(auto& self, auto&& visit) { visit("warnings", self.warnings); }
};

// A command is free in its choice of files there, so any file counts as a checkpoint.
bool CanGoOn(const Experiment& experiment, const TrialFolder& folder) {
  std::error_code error;
  return experiment.HasCommand()
             ? std::filesystem::exists(folder.checkpoint(), error) && !std::filesystem::is_empty(folder.checkpoint(), error)
             : HasCheckpoint(folder.checkpoint());
}

// A command may use a thread per granted core, unless the user has set the variables.
std::vector<std::string> ThreadVariables(const Allocation& allocation) {
  std::vector<std::string> variables;
  for (const std::string name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const char* const given = std::getenv(name.c_str());
    if (given != nullptr || !allocation.cores.empty())
      variables.push_back(name + "=" + (given != nullptr ? given : std::to_string(allocation.cores.size())));
  }
  return variables;
}

TrialSpec WithFolder(TrialSpec spec) {
  std::filesystem::create_directories(spec.attempt_dir);
  return spec;
}

// The status of a trial that had already ended: only a monitor's code still ran, and the status names it.
std::string EndedLate(const ChildExit& exit, const std::optional<StatusFile>& last) {
  const std::string who = last && last->plugin[0] != '\0' ? last->plugin : "the process";
  const std::string how =
      exit.signal != 0 ? "died of " + SignalText(exit.signal) : "ended with exit code " + std::to_string(exit.code);
  return who + " " + how + " after the trial had ended; the last lines of its monitors may be missing";
}

StartFrom KeptStartOf(const AttemptPlace& place, const LoadedExperiment& loaded) {
  const std::string& source = *loaded.experiment.start_from;
  std::optional<KeptStart> kept = place.kept_in.empty() ? std::nullopt : FindKeptStart(place.kept_in, source);
  const bool is_kept = kept && kept->sha256 == loaded.start_sha256;
  if (!is_kept) kept = KeepStart(place.out, source, loaded.start_sha256);
  return {.trial_id = kept->trial_id,
          .checkpoint_dir = std::filesystem::absolute(ResultsFolder{is_kept ? place.kept_in : place.out}.start(kept->sha256)),
          .sha256 = kept->sha256,
          .source = source,
          .iterations = kept->iterations,
          .optimizer = loaded.experiment.start_optimizer};
}

}  // namespace

TrialSpec SpecOf(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after) {
  const TrialFolder folder = TrialFolderOf(place.out, trial_id);
  TrialSpec spec;
  spec.trial_id = trial_id;
  spec.attempt = folder.LastAttempt() + 1;
  spec.attempt_dir = folder.attempt(static_cast<unsigned>(spec.attempt)).folder;
  spec.experiment = loaded.experiment;
  spec.env = {loaded.env->file, loaded.env->id};
  spec.learner = {loaded.learner->file, loaded.learner->id};
  for (const auto& wrapper : loaded.wrappers) spec.wrappers.push_back({wrapper->file, wrapper->id});
  for (const auto& monitor : loaded.monitors) spec.monitors.push_back({monitor->file, monitor->id});
  spec.origin = loaded.origin;
  spec.seeds = loaded.seeds;
  spec.checkpoint_dir = folder.checkpoint();
  spec.torch_lib = place.torch_lib;
  spec.experiment_dir = loaded.folder;
  spec.resume = CanGoOn(loaded.experiment, folder);
  spec.start_from = place.start_from;
  if (!spec.start_from && after.empty() && !loaded.start_sha256.empty()) spec.start_from = KeptStartOf(place, loaded);
  if (!after.empty()) spec.start_from = StartFrom{after, TrialFolderOf(place.out, after).checkpoint()};
  return spec;
}

Attempt::Attempt(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after, const Allocation& allocation)
    : place_(place),
      folder_(TrialFolderOf(place.out, trial_id)),
      spec_(WithFolder(SpecOf(place, loaded, trial_id, after))),
      held_(folder_.folder),
      watchdog_(spec_.experiment.resources),
      allocation_(allocation) {
  LockTrial(held_);
  ReplaceFile(folder_.trial_json(), ToJson(spec_).dump(kJsonIndent));  // every attempt overwrites it
}

TrialCommand Attempt::Command() const {
  TrialCommand command;
  command.child.program = place_.program;
  command.child.arguments = {"run-trial", folder_.trial_json().string()};
  command.child.stdout_file = AttemptFolder(spec_.attempt_dir).standard_output();
  command.child.stderr_file = AttemptFolder(spec_.attempt_dir).standard_error();
  command.child.inherit_fds = place_.lock_fds;
  command.trial_lock_fd = held_.fd();
  command.child.environment = {TrialVariable(place_.out, spec_.trial_id)};
  if (spec_.experiment.HasCommand())
    for (std::string& variable : ThreadVariables(allocation_)) command.child.environment.push_back(std::move(variable));
  command.allocation = allocation_;
  command.status_file = AttemptFolder(spec_.attempt_dir).status();
  command.silence_limit_s = kSilenceLimits * spec_.experiment.resources.hang_timeout_s;
  return command;
}

std::optional<StopHow> Attempt::Look(const std::optional<StatusFile>& now, double elapsed_s) {
  if (now) last_ = now;
  return watchdog_.Look(now, elapsed_s);
}

Attempt::Ended Attempt::Finish(const JobEnd& end) {
  if (end.status) last_ = end.status;
  const std::filesystem::path file = Here().result();
  const std::optional<std::string> text = ReadResultText(file).text;
  const auto written = text ? ParseResultJson(*text) : std::nullopt;
  Ending ending{end.exit,           watchdog_.stop(),         std::nullopt,   end.over_memory,
                end.peak_rss_bytes, allocation_.memory_bytes, end.not_started};
  ending.hang_timeout_s = spec_.experiment.resources.hang_timeout_s;
  ending.wall_time_s = spec_.experiment.resources.wall_time_s;
  ending.lost = end.lost;
  ending.queued_s = end.queued_s;
  if (last_) ending.plugin = last_->plugin;
  ending.over_silence = end.over_silence;
  ending.stuck = end.stuck;
  ending.left = end.left;
  ending.has_checkpoint = CanGoOn(spec_.experiment, folder_);
  if (written) ending.result_state = ReadTolerantly<TrialResult>(*written).state;
  Ended ended{Classify(ending), {}, {}, {}, {}};
  // The trial may have failed to write the reason, for example on a full disk, or before its folder was known. Its last output
  // is then more precise than its exit code.
  const bool is_vague = ended.verdict.outcome == Outcome::kTemp || end.exit.code == kExitUsage;
  if (const std::string last = written ? "" : LastWords(); is_vague && !last.empty()) ended.verdict.why = last;
  const nlohmann::json result = Record(written.value_or(nlohmann::json::object()), ended.verdict, end);
  const TrialResult read = ReadTolerantly<TrialResult>(result);
  ended.warnings = read.warnings;
  ended.facts = read.facts;
  // The trial's error is more precise than its exit code. After a lost node it only names a stop.
  const bool knows_why = ended.verdict.outcome != Outcome::kOk && ended.verdict.outcome != Outcome::kStale;
  if (read.error && knows_why) ended.verdict.why = *read.error;
  if (read.until && ended.verdict.outcome == Outcome::kOk) ended.verdict.why = read.until->Sentence();
  std::optional<std::string> stands = written ? text : std::nullopt;
  if (result != written.value_or(nullptr)) {
    std::string completed = JsonText(result, kJsonIndent);
    try {
      // After a power failure, the events are enough to recover an unfinished trial.
      if (IsFinished(ended.verdict.state)) {
        WriteFileAtomic(file, completed);
      } else {
        ReplaceFile(file, completed);
      }
      stands = std::move(completed);
    } catch (const std::exception& error) {
      ended.unwritten = error.what();
    }
  }
  ended.files = FilesOf(Here(), stands, result);
  return ended;
}

AttemptFolder Attempt::Here() const { return held_.Now() / spec_.attempt_dir.filename(); }

std::string Attempt::LastWords() const {
  const std::vector<std::string> lines = LastLines(Here().standard_error(), 1);
  return !lines.empty() ? lines.back() : last_ ? std::string(last_->line) : "";
}

// Keeps the trial's own fields, adds those that only the supervisor knows, and overrides the state.
nlohmann::json Attempt::Record(nlohmann::json record, const AttemptVerdict& verdict, const JobEnd& end) const {
  const TrialResult told = ReadTolerantly<TrialResult>(record);
  if (IsFinished(verdict.state)) {
    if (end.exit.signal == 0 && end.exit.code == 0) return record;
    Warned warned{told.warnings};
    warned.warnings.push_back(EndedLate(end.exit, last_));
    Overwrite(warned, &record);
    return record;
  }
  Known known{.trial_id = spec_.trial_id, .attempt = spec_.attempt, .wall_s = end.wall_s};
  if (last_) {
    known.iterations = last_->iteration;
    known.env_steps = last_->env_steps;
    known.episodes = last_->episodes;
    known.phase = last_->phase;
    known.plugin = last_->plugin;
  }
  FillIn(known, &record);
  const std::string& error = verdict.by_limit ? verdict.why : told.error.value_or(verdict.why);
  Judgement judged{{}, verdict.state, verdict.outcome, verdict.on_device, error};
  judged.peak_rss_bytes = end.peak_rss_bytes;
  judged.hang = watchdog_.stop() == StopReason::kHang || end.over_silence;
  if (!verdict.signal.empty()) judged.signal = verdict.signal;
  judged.log_tail = LastLines(Here().standard_error(), kLogTailLines);
  if (judged.log_tail.empty() && last_ && last_->line[0] != '\0') judged.log_tail.push_back(last_->line);
  // The trial reports a stop, although the limit ended it.
  if (verdict.by_limit && told.error) std::erase(judged.log_tail, *told.error);
  judged.stacks = ReadStacks(Here().stacks());
  std::error_code ignored;
  std::filesystem::remove(Here().stacks(), ignored);  // the record contains them
  Overwrite(judged, &record);
  return record;
}

}  // namespace backplane
