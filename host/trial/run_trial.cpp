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
#include "record/results_folder.hpp"
#include "rollout/clocks.hpp"
#include "rollout/instance.hpp"
#include "rollout/memory_reserve.hpp"
#include "trial/checkpoint_folder.hpp"
#include "trial/crash.hpp"
#include "trial/exit_reason.hpp"
#include "trial/film.hpp"
#include "trial/hang_watch.hpp"
#include "trial/loop.hpp"
#include "trial/named_checkpoint.hpp"
#include "trial/option_places.hpp"
#include "trial/parts.hpp"
#include "trial/plugin_state.hpp"
#include "trial/policy_record.hpp"
#include "trial/prepare.hpp"
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

// The file of a task that does not run the trial; empty: it runs.
const std::filesystem::path& Asked(const TrialTask& task) { return task.film.empty() ? task.policy : task.film; }

class TrialProcess {
 public:
  TrialProcess(TrialSpec spec, const std::filesystem::path& trial_json, const TrialTask& task)
      : spec_(std::move(spec)),
        task_(task),
        trial_json_(trial_json),
        checkpoints_(spec_.checkpoint_dir, spec_.trial_id, static_cast<unsigned>(spec_.experiment.checkpoint.keep)),
        status_(AttemptFolder(records() ? spec_.attempt_dir : Asked(task_).parent_path()).status()),
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
    if (records())
      WatchSuspension(&status_);
    else
      EndIfItHangs(&status_, spec_.experiment.resources.hang_timeout_s);  // no supervisor watches a film
    KeepProcessState();
    const ExitReason failed = RunToItsEnd();
    const ProcessChecksPaused paused;
    return Finish(failed);
  }

 private:
  bool records() const { return Asked(task_).empty(); }
  ExitReason RunToItsEnd();
  void Load();
  void MakeWorkers();
  void MakeLoop();
  void RunLoop();
  void WriteFilm();
  void WritePolicy();
  uint64_t EvaluationRows() const;
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
  const std::filesystem::path trial_json_;
  CheckpointFolder checkpoints_;
  StatusWriter status_;
  std::mutex log_mutex_;  // plugins log from any thread
  std::vector<std::string> plugin_warnings_;
  bool warnings_left_out_ = false;
  TrialParts parts_;
  std::unique_ptr<StartedWorkers> started_workers_;  // NULL: none
  std::unique_ptr<WorkerGroup> workers_;             // NULL: none
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
      task_.film.empty() ? WritePolicy() : WriteFilm();
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
  parts_.Load({.monitors = records(), .evaluation_rows = EvaluationRows()});
  if (!records()) return;
  if (started_workers_) MakeWorkers();
  parts_.monitors()->Start();
  MakeLoop();
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
          .cancelled = &g_cancelled,
          .beat = beat,
          .warn = [this](const std::string& sentence) { loop_->Warn(sentence); },
          .memory = started_workers_->memory(),
          .restart = [this, beat](uint64_t number) { return started_workers_->Restart(number, g_cancelled, beat); }});
}

void TrialProcess::MakeLoop() {
  loop_ = std::make_unique<TrialLoop>(LoopParts{spec_, parts_.env(), parts_.learner(), parts_.evaluation_env(),
                                                *parts_.monitors(), parts_.metrics(), status_, g_cancelled, *parts_.threads(),
                                                checkpoints_, parts_.chunk_rows(), parts_.call_rows(), workers_.get()});
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

void TrialProcess::WriteFilm() {
  RestoreLearner();
  const Experiment& experiment = spec_.experiment;
  const Film film = PlayFilm(*parts_.evaluation_env(), parts_.learner(), *parts_.threads(), experiment.seed, task_.episode,
                             {experiment.evaluation.max_episode_steps, experiment.resources.wall_time_s}, g_cancelled,
                             [this] { status_.Beat(); });
  WriteFileAtomic(task_.film, JsonText(ToJson(film)));
}

void TrialProcess::WritePolicy() {
  const Checkpoint checkpoint = ReadNamedCheckpoint(spec_.checkpoint_dir, spec_.trial_id, task_.checkpoint);
  LoadLearner(NeedState(parts_.learner()), parts_.learner(), PartOf(checkpoint, "learner"));
  WriteFileAtomic(task_.policy, PolicyRecord(*parts_.evaluation_env(), parts_.learner(), *parts_.threads(), spec_,
                                             checkpoint.header.iterations, g_cancelled, [this] { status_.Beat(); }));
}

uint64_t TrialProcess::EvaluationRows() const {
  if (records()) return spec_.experiment.evaluation.episodes;
  return task_.film.empty() ? kRecordedEpisodes : 1;
}

// A learner that keeps no state and learns nothing plays as it is.
void TrialProcess::RestoreLearner() {
  LearnerInstance& learner = parts_.learner();
  const bp_learner_state_1* state = StateOf(learner);
  if (state == nullptr && learner.spec().n_params == 0) return;
  if (state == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, learner.id(), "cannot save its state, because it does not offer " BP_LEARNER_STATE_1);
  if (task_.checkpoint == kLastCheckpoint && !std::filesystem::exists(checkpoints_.file()))
    throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                       "has no checkpoint in " + spec_.checkpoint_dir.string() +
                           "; a trial writes one at its end, and earlier with checkpoint.every_iterations");
  const Checkpoint saved = ReadNamedCheckpoint(spec_.checkpoint_dir, spec_.trial_id, task_.checkpoint);
  LoadLearner(*state, learner, PartOf(saved, "learner"));
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
  return exit_ = WriteResult(failed);
}

void TrialProcess::SetEnd(const ExitReason& failed) {
  if (loop_) measured_ = loop_->Result();
  end_ = EndOf(spec_, failed);
  if (loop_) end_.ended_by = loop_->ended_by();
  end_.phase = status_.data().phase;
  if (const TrialThreads* threads = parts_.threads()) {
    end_.threads = threads->collecting();
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
    if (Asked(task).empty() && std::filesystem::exists(AttemptFolder(spec.attempt_dir).result()))
      throw std::runtime_error(trial_json.string() + ": attempt " + std::to_string(spec.attempt) +
                               " already has a result; `backplane replay OUT TRIAL` repeats the trial and keeps the result");
    if (Asked(task).empty()) HoldFolders(spec.attempt_dir, spec.checkpoint_dir);
    // Never destroyed, because threads and plugins may still run when the process exits.
    auto* process = new TrialProcess(std::move(spec), trial_json, task);
    return process->Run();
  });
}

}  // namespace backplane
