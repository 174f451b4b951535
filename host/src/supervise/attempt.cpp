#include "supervise/attempt.hpp"

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "store/attempt_files.hpp"
#include "store/attempt_json.hpp"
#include "store/batch_record.hpp"
#include "supervise/leftovers.hpp"

namespace backplane {
namespace {

constexpr size_t kLogTailLines = 10;

TrialSpec WithFolder(TrialSpec spec) {
  std::filesystem::create_directories(spec.attempt_dir);
  return spec;
}

// Of a trial that had come to its end already: only a monitor's code still ran.
std::string EndedLate(const ChildExit& exit, const std::optional<StatusFile>& last) {
  const std::string who = exit.signal != 0 && last && last->plugin[0] != '\0' ? last->plugin : "the process";
  const std::string how =
      exit.signal != 0 ? "died of " + SignalName(exit.signal) : "ended with exit code " + std::to_string(exit.code);
  return who + " " + how + " after the trial had come to its end: what monitors still had to write may be missing";
}

}  // namespace

TrialSpec SpecOf(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after) {
  const TrialFolder folder = TrialFolderOf(place.out, trial_id);
  TrialSpec spec;
  spec.trial_id = trial_id;
  spec.attempt = folder.LastAttempt() + 1;
  spec.attempt_dir = folder.attempt(static_cast<unsigned>(spec.attempt));
  spec.experiment = loaded.experiment;
  spec.env = {loaded.env->file, loaded.env->id};
  spec.learner = {loaded.learner->file, loaded.learner->id};
  for (const auto& monitor : loaded.monitors) spec.monitors.push_back({monitor->file, monitor->id});
  spec.origin = loaded.origin;
  spec.seeds = loaded.seeds;
  spec.checkpoint_dir = folder.checkpoint();
  spec.torch_lib = place.torch_lib;
  spec.resume = folder.HasCheckpoint();
  if (!after.empty()) spec.start_from = StartFrom{after, TrialFolderOf(place.out, after).checkpoint()};
  return spec;
}

Attempt::Attempt(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after, const Grant& grant)
    : place_(place),
      folder_(TrialFolderOf(place.out, trial_id)),
      spec_(WithFolder(SpecOf(place, loaded, trial_id, after))),
      held_(folder_.folder),
      grant_(grant) {
  LockTrial(held_);
  ReplaceFile(folder_.trial_json(), ToJson(spec_).dump(kJsonIndent));  // every attempt writes it anew
}

TrialCommand Attempt::Command() const {
  TrialCommand command;
  command.child.program = place_.program;
  command.child.arguments = {"run-trial", folder_.trial_json().string()};
  command.child.stdout_file = spec_.attempt_dir / "stdout.log";
  command.child.stderr_file = spec_.attempt_dir / "stderr.log";
  command.child.inherit_fds = place_.lock_fds;
  command.trial_lock_fd = held_.fd();
  command.child.environment = {TrialVariable(place_.out, spec_.trial_id)};
  command.grant = grant_;
  command.status_file = spec_.attempt_dir / "status";
  return command;
}

void Attempt::Stopped(StopReason reason) {
  // The first reason stays, but a trial that hangs while it is asked to end did hang.
  if (stop_ == StopReason::kNone || reason == StopReason::kHang) stop_ = reason;
}

std::optional<StopHow> Attempt::Look(const std::optional<StatusFile>& now, double elapsed_s) {
  // While it was stopped it neither hung nor used up its time.
  if (now && now->own_s > 0) elapsed_s = now->own_s;
  if (now) {
    if (!last_ || now->heartbeat != last_->heartbeat) last_sign_s_ = elapsed_s;
    last_ = now;
  }
  // First it is asked to write down whose code it is in; at the next look it dies.
  if (stop_ == StopReason::kHang) return StopHow::kKill;
  const ResourceConfig& resources = spec_.experiment.resources;
  if (elapsed_s - last_sign_s_ > resources.hang_timeout_s) {
    Stopped(StopReason::kHang);
    return StopHow::kWhere;
  }
  if (stop_ == StopReason::kNone && resources.wall_time_s && elapsed_s > *resources.wall_time_s) {
    Stopped(StopReason::kWallTime);
    return StopHow::kAsk;
  }
  return std::nullopt;
}

Attempt::Ended Attempt::Conclude(const JobEnd& end) {
  if (end.status) last_ = end.status;
  const std::filesystem::path file = Here() / "result.json";
  const std::optional<std::string> text = ReadResultText(file).text;
  const auto written = text ? ParseResultJson(*text) : std::nullopt;
  Ending ending{end.exit, stop_, std::nullopt, end.over_memory, end.peak_rss_bytes, grant_.memory_bytes, end.not_started};
  if (written) ending.result_state = written->at("state").get<std::string>();
  Ended ended{Classify(ending), {}, {}, {}};
  // It could not write down why, on a full disk for example: its last words say more than its exit code.
  if (const std::string last = written ? "" : LastWords(); ended.verdict.outcome == "temp" && !last.empty())
    ended.verdict.why = last;
  ended.result = Record(written.value_or(nlohmann::json::object()), ended.verdict, end);
  // The trial's own sentence says more than its exit code.
  if (const auto error = ended.result.find("error");
      error != ended.result.end() && error->is_string() && ended.verdict.outcome != "ok")
    ended.verdict.why = error->get<std::string>();
  std::optional<std::string> stands = written ? text : std::nullopt;
  if (ended.result != written.value_or(nullptr)) {
    std::string completed = JsonText(ended.result, kJsonIndent);
    try {
      // Of an unfinished trial the events tell what is lost with the power.
      if (IsFinishedState(ended.verdict.state)) {
        WriteFileAtomic(file, completed);
      } else {
        ReplaceFile(file, completed);
      }
      stands = std::move(completed);
    } catch (const std::exception& error) {
      ended.unwritten = error.what();
    }
  }
  ended.files = FilesOf(Here(), stands, ended.result);
  return ended;
}

std::filesystem::path Attempt::Here() const { return held_.Now() / spec_.attempt_dir.filename(); }

std::string Attempt::LastWords() const {
  const std::vector<std::string> lines = LastLines(Here() / "stderr.log", 1);
  return !lines.empty() ? lines.back() : last_ ? std::string(last_->line) : "";
}

// The trial's own words stay; what only the supervisor can know is added, and its verdict on the state counts.
nlohmann::json Attempt::Record(nlohmann::json record, const Verdict& verdict, const JobEnd& end) const {
  if (IsFinishedState(verdict.state)) {
    if (end.exit.signal != 0 || end.exit.code != 0) record["warnings"].push_back(EndedLate(end.exit, last_));
    return record;
  }
  record["peak_rss_bytes"] = end.peak_rss_bytes;
  record.emplace("schema", kTrialSchema);
  record.emplace("trial_id", spec_.trial_id);
  record.emplace("attempt", spec_.attempt);
  record.emplace("wall_s", end.wall_s);
  if (last_) {
    record.emplace("iterations", last_->iteration);
    record.emplace("env_steps", last_->env_steps);
    record.emplace("episodes", last_->episodes);
    record.emplace("phase", last_->phase);
    record.emplace("plugin", last_->plugin);
  }
  std::vector<std::string> tail = LastLines(Here() / "stderr.log", kLogTailLines);
  if (tail.empty() && last_ && last_->line[0] != '\0') tail.push_back(last_->line);
  if (!record.contains("error") || !record["error"].is_string()) record["error"] = verdict.why;
  record["state"] = verdict.state;
  record["outcome"] = verdict.outcome;
  record["on_device"] = verdict.on_device;
  record["hang"] = stop_ == StopReason::kHang;
  record["signal"] = verdict.signal.empty() ? nlohmann::json(nullptr) : nlohmann::json(verdict.signal);
  record["log_tail"] = tail;
  return record;
}

}  // namespace backplane
