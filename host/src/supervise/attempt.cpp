#include "supervise/attempt.hpp"

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "supervise/result.hpp"

namespace backplane {
namespace {

constexpr size_t kLogTailLines = 10;

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
      spec_(SpecOf(place, loaded, trial_id, after)),
      grant_(grant),
      status_(spec_.attempt_dir / "status") {
  std::filesystem::create_directories(spec_.attempt_dir);
  WriteFileAtomic(folder_.trial_json(), ToJson(spec_).dump(kJsonIndent));
}

TrialCommand Attempt::Command() const {
  TrialCommand command;
  command.child.program = place_.program;
  command.child.arguments = {"run-trial", folder_.trial_json().string()};
  command.child.stdout_file = spec_.attempt_dir / "stdout.log";
  command.child.stderr_file = spec_.attempt_dir / "stderr.log";
  command.child.inherit_fd = place_.lock_fd;
  command.grant = grant_;
  return command;
}

void Attempt::Stopped(StopReason reason) {
  // The first reason stays, but a trial that hangs while it is asked to end did hang.
  if (stop_ == StopReason::kNone || reason == StopReason::kHang) stop_ = reason;
}

std::optional<StopHow> Attempt::Look(double elapsed_s) {
  const std::optional<StatusFile> now = status_.Read();
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
  if (const std::optional<StatusFile> now = status_.Read()) last_ = now;
  const std::filesystem::path file = spec_.attempt_dir / "result.json";
  const auto written = ReadResultJson(file);
  Ending ending{end.exit, stop_, std::nullopt, end.over_memory, end.peak_rss_bytes, grant_.memory_bytes, end.not_started};
  if (written) ending.result_state = written->at("state").get<std::string>();
  Ended ended{Classify(ending), {}};
  ended.result = Record(written.value_or(nlohmann::json::object()), ended.verdict, end);
  // The trial's own sentence says more than its exit code.
  if (const auto error = ended.result.find("error");
      error != ended.result.end() && error->is_string() && ended.verdict.outcome != "ok")
    ended.verdict.why = error->get<std::string>();
  if (ended.result != written.value_or(nullptr)) {
    try {
      WriteFileAtomic(file, JsonText(ended.result, kJsonIndent));
    } catch (const std::exception& error) {
      ended.unwritten = error.what();
    }
  }
  return ended;
}

// The trial's own words stay; what only the supervisor can know is added, and its verdict on the state counts.
nlohmann::json Attempt::Record(nlohmann::json record, const Verdict& verdict, const JobEnd& end) const {
  if (verdict.state == "COMPLETED" || verdict.state == "PRUNED") return record;
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
  std::vector<std::string> tail = LastLines(spec_.attempt_dir / "stderr.log", kLogTailLines);
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
