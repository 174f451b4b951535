#include "trial/run_trial.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/bounded.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "log/log.hpp"
#include "machine/cpu.hpp"
#include "record/evaluation_order.hpp"
#include "record/results_folder.hpp"
#include "rollout/clocks.hpp"
#include "rollout/instance.hpp"
#include "rollout/memory_reserve.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/crash.hpp"
#include "trial/evaluate_order.hpp"
#include "trial/exit_reason.hpp"
#include "trial/film.hpp"
#include "trial/hang_watch.hpp"
#include "trial/late_stop.hpp"
#include "trial/loop.hpp"
#include "trial/moment_recorder.hpp"
#include "trial/option_places.hpp"
#include "trial/parts.hpp"
#include "trial/plugin_state.hpp"
#include "trial/policy_record.hpp"
#include "trial/prepare.hpp"
#include "trial/restore_policy.hpp"
#include "trial/shim_watch.hpp"
#include "trial/start_workers.hpp"
#include "trial/suspension.hpp"

namespace backplane {
namespace {

// Warnings of plugins in the result. A text that changes with every call would otherwise fill it.
constexpr size_t kMaxWarnings = 20;
// As a fraction of resources.hang_timeout. Two workers may hang in a row before the trial itself counts as hung.
constexpr double kWorkerSilence = 1.0 / 3;

std::atomic<bool> g_cancelled{false};
void OnStop(int) { g_cancelled = true; }

template <class T>
T ReadRecord(const std::filesystem::path& file) {
  const std::optional<std::string> text = ReadFile(file);
  if (!text) throw std::runtime_error(file.string() + " cannot be read");
  return RecordFromJson<T>(nlohmann::json::parse(*text));
}

// The order also sets the threads and the options of the evaluation env.
EvaluationOrder ReadOrder(const std::filesystem::path& file, TrialSpec* spec) {
  auto order = ReadRecord<EvaluationOrder>(file);
  spec->experiment.evaluation.env_options = order.env_options;
  spec->experiment.rollout.threads = order.threads > 0 ? order.threads : GrantedCores();
  spec->experiment.rollout.pin_threads = false;
  return order;
}

class TrialProcess {
 public:
  TrialProcess(TrialSpec spec, const std::filesystem::path& trial_json, const TrialTask& task)
      : spec_(std::move(spec)),
        task_(task),
        order_(task.evaluate.empty() ? std::nullopt : std::optional(ReadOrder(task.evaluate, &spec_))),
        moment_order_(task.inspect.empty() ? std::nullopt : std::optional(ReadRecord<MomentOrder>(task.inspect))),
        trial_json_(trial_json),
        checkpoints_(spec_.checkpoint_dir, spec_.trial_id, static_cast<unsigned>(spec_.experiment.checkpoint.keep)),
        status_(AttemptFolder(records() ? spec_.attempt_dir : task_.playing().parent_path()).status()),
        parts_(spec_, &status_, &g_cancelled,
               [this](const std::string& id, int severity, const std::string& text) { Log(id, severity, text); }) {}

  int Run() {
    InstallCrashHandlers(&status_, records() ? AttemptFolder(spec_.attempt_dir).stacks() : "",
                         [this](const std::string& plugin) {
                           const std::string sentence = plugin + " called exit(); plugins must not end the process";
                           MonitorThread::ParkWhereItExits(sentence);
                           const int code = Finish({kExitPlugin, Outcome::kPlugin, plugin, sentence});
                           std::fflush(nullptr);
                           _exit(code);
                         });
    if (records() && !moment_order_)
      WatchSuspension(&status_);
    else
      EndIfItHangs(&status_, spec_.experiment.resources.hang_timeout_s);  // no supervisor watches it
    KeepProcessState();
    const ExitReason failed = RunToItsEnd();
    const ProcessChecksPaused paused;
    return Finish(failed);
  }

 private:
  bool records() const { return task_.records(); }
  ExitReason RunToItsEnd();
  void Load();
  uint64_t EvaluationRows() const;
  void MakeWorkers();
  void MakeLoop();
  void RunLoop();
  void Play();
  void WriteFilm(const std::filesystem::path& file, uint64_t episode);
  void WritePolicy();
  void Evaluate();
  void RestoreLearner();
  int Finish(const ExitReason& failed);
  void SetEnd(const ExitReason& failed);
  void TakeWhatMonitorsTell();
  int WriteResult(const ExitReason& failed);
  void Log(const std::string& id, int severity, const std::string& text);
  void KeepWarning(const std::string& id, const std::string& text);
  std::vector<std::string> Warnings();

  TrialSpec spec_;
  const TrialTask task_;
  const std::optional<EvaluationOrder> order_;
  const std::optional<MomentOrder> moment_order_;
  const std::filesystem::path trial_json_;
  CheckpointFolder checkpoints_;
  StatusWriter status_;
  std::mutex log_mutex_;  // plugins log from any thread
  std::vector<std::string> plugin_warnings_;
  bool warnings_left_out_ = false;
  TrialParts parts_;
  std::optional<uint64_t> restored_;                 // iterations before the loaded checkpoint
  std::unique_ptr<StartedWorkers> started_workers_;  // NULL: none
  std::unique_ptr<WorkerGroup> workers_;             // NULL: none
  std::unique_ptr<MomentRecorder> moment_;           // NULL: none
  std::optional<LateStop> late_stop_;                // of a learner with a large state
  std::unique_ptr<TrialLoop> loop_;
  std::mutex finish_mutex_;  // guards the members below, because a plugin may call exit() on any thread
  bool finished_ = false;
  std::optional<LoopResult> measured_;  // by the loop, if there was one
  TrialEnd end_;
  int exit_ = kExitOk;
};

ExitReason TrialProcess::RunToItsEnd() {
  try {
    Load();
    if (!records()) {
      Play();
      return {};
    }
    RunLoop();
    if (loop_->pruned()) return {kExitOk, Outcome::kPruned, "", ""};
    return loop_->stopped_early() ? ExitReason{kExitTemp, Outcome::kKilled, "", "stopped on request"} : ExitReason{};
  } catch (...) {
    ExitReason failed = ReasonOfCurrentException();
    std::vector<NamedOption> named;
    if (failed.outcome == Outcome::kConfig) named = OptionsNamed(failed.error, spec_.origin, parts_.section());
    const auto monitor = MonitorNamed(parts_.section(), failed.plugin, spec_.origin);
    if (monitor && named.empty()) named.push_back(*monitor);
    failed.error += PlacesText(failed.error, named);
    return failed;
  }
}

void TrialProcess::Load() {
  if (records()) started_workers_ = StartWorkers(spec_, trial_json_);  // they load while this process does
  parts_.Load({.monitors = records(),
               .evaluation_rows = EvaluationRows(),
               .evaluation_env = order_ ? order_->env : std::nullopt,
               .file_folder = records() && !moment_order_ ? spec_.checkpoint_dir : ""});
  if (!records()) return;
  if (parts_.learner().large()) {
    late_stop_.emplace(g_cancelled);
    parts_.SetStop(&late_stop_->flag());
  }
  if (started_workers_) MakeWorkers();
  parts_.monitors()->Start();
  MakeLoop();
}

uint64_t TrialProcess::EvaluationRows() const {
  if (!task_.policy.empty()) return kRecordedEpisodes;
  if (order_ && order_->film.empty()) return ShapeOfEvaluation(order_->episodes).rows;
  return records() && !moment_order_ ? spec_.experiment.evaluation.episodes : 1;
}

void TrialProcess::MakeWorkers() {
  CheckPlaysElsewhere(parts_.learner());
  const auto beat = [this] { status_.Beat(); };
  WorkerLinks links = started_workers_->Links(g_cancelled, beat);
  const double silence_s = spec_.experiment.resources.hang_timeout_s * kWorkerSilence;
  workers_ = std::make_unique<WorkerGroup>(
      std::move(links),
      WorkerGroup::Setup{
          .trial_id = spec_.trial_id,
          .learner = parts_.learner().id(),
          .token = started_workers_->token(),
          .chunk_rows = parts_.chunk_rows(),
          .silence_s = silence_s,
          .cancelled = late_stop_ ? &late_stop_->flag() : &g_cancelled,
          .beat = beat,
          .warn = [this](const std::string& sentence) { loop_->Warn(sentence); },
          .memory = started_workers_->memory(),
          .restart = [this, beat](uint64_t number) { return started_workers_->Restart(number, g_cancelled, beat); }});
}

void TrialProcess::MakeLoop() {
  EnvInstance* evaluation = parts_.evaluation_env();
  if (moment_order_)
    moment_ = std::make_unique<MomentRecorder>(*moment_order_, parts_.env(), parts_.learner(),
                                               std::exchange(evaluation, nullptr), spec_.attempt_dir);
  loop_ = std::make_unique<TrialLoop>(LoopParts{spec_, parts_.env(), parts_.learner(), evaluation, *parts_.monitors(),
                                                parts_.metrics(), status_, g_cancelled, *parts_.threads(), checkpoints_,
                                                parts_.chunk_rows(), parts_.call_rows(), parts_.acts_whole(), workers_.get(),
                                                moment_.get(), late_stop_ ? &late_stop_->flag() : nullptr});
}

// Each pass but the last sets a checkpoint aside and restarts with fresh plugins.
void TrialProcess::RunLoop() {
  for (;;) {
    try {
      return loop_->Run();
    } catch (const CheckpointRefused& refused) {
      LogError("{}", refused.what());
      checkpoints_.Refuse(refused.what());
    }
    loop_.reset();
    parts_.MakeAnew();
    MakeLoop();
  }
}

// The tasks that write no record.
void TrialProcess::Play() {
  RestoreLearner();
  if (!task_.policy.empty()) return WritePolicy();
  if (!order_) return WriteFilm(task_.film, task_.episode);
  if (!order_->film.empty()) return WriteFilm(order_->film, order_->film_episode);
  Evaluate();
}

void TrialProcess::WriteFilm(const std::filesystem::path& file, uint64_t episode) {
  const Experiment& experiment = spec_.experiment;
  const uint64_t seed = order_ ? order_->seed : experiment.seed;
  const Film film = PlayFilm(*parts_.evaluation_env(), parts_.learner(), *parts_.threads(), seed, episode,
                             {experiment.evaluation.max_episode_steps, experiment.resources.wall_time_s}, g_cancelled,
                             [this] { status_.Beat(); });
  WriteFileAtomic(file, JsonText(ToJson(film)));
}

void TrialProcess::Evaluate() {
  status_.SetPhase("eval");
  EvaluationAnswer answer = PlayOrder(*order_, *parts_.evaluation_env(), parts_.learner(), *parts_.threads(),
                                      spec_.experiment.evaluation.max_episode_steps, g_cancelled, [this] { status_.Beat(); });
  answer.iterations = restored_;
  WriteFileAtomic(order_->answer, JsonText(ToJson(answer)));
}

void TrialProcess::WritePolicy() {
  WriteFileAtomic(task_.policy, PolicyRecord(*parts_.evaluation_env(), parts_.learner(), *parts_.threads(), spec_,
                                             restored_.value_or(0), g_cancelled, [this] { status_.Beat(); }));
}

void TrialProcess::RestoreLearner() {
  WarningList warnings(status_);
  restored_ = RestorePolicy(spec_, order_ ? order_->checkpoint_dir : spec_.checkpoint_dir,
                            order_ ? order_->checkpoint : task_.checkpoint, parts_.learner(), &warnings);
}

// The second caller waits until the first has written everything.
int TrialProcess::Finish(const ExitReason& failed) {
  const std::lock_guard lock(finish_mutex_);
  if (std::exchange(finished_, true)) return exit_;
  RestoreState(failed.plugin.empty() ? Suspects() : failed.plugin);  // before any file is written
  const std::string& error = failed.error;
  if (!error.empty()) {
    LogError("{}", error);
    status_.SetLine(error);
  }
  if (!failed.plugin.empty()) status_.SetPlugin(failed.plugin);
  if (!records()) return exit_ = failed.exit;
  SetEnd(failed);
  exit_ = WriteResult(failed);
  // After the result: until then, another attempt needs them.
  if (exit_ == kExitOk && end_.state == TrialState::kCompleted && !spec_.experiment.checkpoint.keep_replay)
    RemoveLearnerFiles(spec_.checkpoint_dir);
  return exit_;
}

void TrialProcess::SetEnd(const ExitReason& failed) {
  if (loop_) measured_ = loop_->Result();
  end_ = EndOf(spec_, failed);
  if (loop_) end_.ended_by = loop_->ended_by();
  end_.phase = status_.data().phase;
  if (const TrialThreads* threads = parts_.threads()) {
    end_.threads = parts_.acts_whole() ? threads->stepping() : threads->collecting();
    end_.learner_threads = threads->all();
  }
  end_.chunk_rows = parts_.call_rows();
  end_.facts = parts_.facts();
  end_.versions = UsedVersions{parts_.torch_version()};
  TakeWhatMonitorsTell();
}

void TrialProcess::TakeWhatMonitorsTell() {
  if (loop_) static_cast<MeasuredTimes&>(*measured_) = loop_->Measured();
  end_.warnings = Warnings();
  const MonitorHost* monitors = parts_.monitors();
  if (monitors == nullptr) return;
  end_.events_dropped = monitors->dropped();
  end_.monitors = MonitorCost{monitors->cpu_s(), ReadClock(CLOCK_PROCESS_CPUTIME_ID) * 1e-9};
}

// Writes the result before monitors finish, because they may fail. Then adds their data and syncs it to the disk. If they take
// long, does not wait for them.
int TrialProcess::WriteResult(const ExitReason& failed) {
  const std::filesystem::path file = AttemptFolder(WhereHeld(spec_.attempt_dir)).result();
  const std::string plugin = status_.data().plugin;
  const auto text = [this] {
    nlohmann::json result = measured_ ? ToJson(*measured_) : nlohmann::json::object();
    Overwrite(end_, &result);
    return JsonText(result, 2) + "\n";
  };
  try {
    if (loop_) loop_->SyncFiles();  // a result is never on disk without its metrics
    if (MonitorHost* monitors = parts_.monitors(); monitors != nullptr && !monitors->empty()) {
      ReplaceFile(file, text());
      // From here only monitors can hang, so a SIGKILL is blamed on them and not on this thread's last plugin.
      tls_running_plugin = "";
      status_.SetPlugin(monitors->Unfinished());
      status_.Beat();
      monitors->Finish(WhereHeld(spec_.attempt_dir), [&] {
        status_.SetPlugin(monitors->Unfinished());
        RestoreProcessState(Suspects());  // a monitor's umask could make the file unreadable
        WriteFileAtomic(file, text());
      });
      status_.Beat();
      status_.SetPlugin(plugin);
      RestoreProcessState(Suspects());
      TakeWhatMonitorsTell();
    }
    WriteFileAtomic(file, text());
  } catch (const std::exception& e) {
    const int exit = ExitWithoutResult(failed, e, &status_);
    status_.SetPlugin(plugin);
    return exit;
  }
  return failed.exit;
}

void TrialProcess::Log(const std::string& id, int severity, const std::string& text) {
  static const char* const kNames[] = {"", "debug", "info", "warning", "error"};
  const char* name = severity >= BP_LOG_DEBUG && severity <= BP_LOG_ERROR ? kNames[severity] : "note";
  const std::lock_guard lock(log_mutex_);
  LogError("{}: {}: {}", name, id, text);
  status_.SetLine(text);
  if (severity == BP_LOG_WARN) KeepWarning(id, text);
}

// Keeps each text once, because the evaluation env usually repeats the other one's warnings.
void TrialProcess::KeepWarning(const std::string& id, const std::string& text) {
  const std::string warning = Bounded(text.starts_with(id) ? text : id + ": " + text);
  if (std::find(plugin_warnings_.begin(), plugin_warnings_.end(), warning) != plugin_warnings_.end()) return;
  if (plugin_warnings_.size() < kMaxWarnings)
    plugin_warnings_.push_back(warning);
  else
    warnings_left_out_ = true;
}

// Warnings for the user, who does not read the log. The supervisor prints them after the attempt.
std::vector<std::string> TrialProcess::Warnings() {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& some) {
    for (const std::string& warning : some)
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  };
  if (const MonitorHost* monitors = parts_.monitors()) add(monitors->warnings());  // these were logged too
  add(checkpoints_.warnings());
  if (loop_) add(loop_->warnings());
  add(StateChanges());
  const std::lock_guard lock(log_mutex_);
  add(plugin_warnings_);
  if (warnings_left_out_) all.emplace_back("plugins printed more warnings, which are in the attempt's stderr.log");
  return all;
}

}  // namespace

int RunTrial(std::vector<TrialSpec> specs, const std::filesystem::path& trial_json, const TrialTask& task) {
  WatchShim();
  PrepareForPlugins();
  KeepMemoryReserve();
  for (int s : {SIGTERM, SIGINT}) signal(s, OnStop);
  return ExitOf([&] {
    if (task.check) return CheckTrials(specs, trial_json.parent_path(), g_cancelled);
    TrialSpec spec = std::move(specs.front());
    if (task.records() && std::filesystem::exists(AttemptFolder(spec.attempt_dir).result()))
      throw std::runtime_error(trial_json.string() + ": attempt " + std::to_string(spec.attempt) +
                               " already has a result; `backplane replay OUT TRIAL` repeats the trial and keeps the result");
    if (task.records()) HoldFolders(spec.attempt_dir, spec.checkpoint_dir);
    // Never destroyed, because threads and plugins may still run when the process exits.
    auto* process = new TrialProcess(std::move(spec), trial_json, task);
    return process->Run();
  });
}

}  // namespace backplane
