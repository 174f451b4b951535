#include "trial/run_trial.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <new>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "plugin/catalog.hpp"
#include "rollout/clocks.hpp"
#include "rollout/phase_service.hpp"
#include "trial/crash.hpp"
#include "trial/film.hpp"
#include "trial/learner_state.hpp"
#include "trial/loop.hpp"
#include "trial/threads.hpp"

namespace backplane {
namespace {

std::atomic<bool> g_cancelled{false};
void OnStop(int) { g_cancelled = true; }

struct Outcome {
  int exit = kExitOk;
  const char* name = "ok";
};

Outcome OutcomeOf(bp_status status) {
  switch (status) {
    case BP_E_CONFIG:
    case BP_E_INVALID_ARG:
    case BP_E_UNSUPPORTED: return {kExitConfig, "config"};
    case BP_E_OOM_DEVICE: return {kExitGpuOom, "oom"};
    case BP_E_OOM_HOST: return {kExitHostOom, "oom"};
    case BP_E_NUMERIC: return {kExitNan, "nan"};
    case BP_E_TIMEOUT: return {kExitTimeout, "timeout"};
    case BP_E_CANCELLED: return {kExitTemp, "killed"};
    default: return {kExitPlugin, "plugin"};
  }
}

// Large tensors are otherwise mapped and unmapped at every update, which costs more than the arithmetic (measured: 6.7 against
// 4.9 us per sample at minibatch 2,048, two layers of 256).
void TuneMalloc() {
  if (mallopt(M_MMAP_THRESHOLD, 1 << 30) != 1 || mallopt(M_TRIM_THRESHOLD, INT_MAX) != 1 || mallopt(M_TOP_PAD, 64 << 20) != 1)
    std::fprintf(stderr, "warning: this C library refuses malloc settings; updates of large networks will be slower\n");
}

class TrialProcess {
 public:
  TrialProcess(TrialSpec spec, const TrialTask& task)
      : spec_(std::move(spec)),
        task_(task),
        trial_dir_(spec_.checkpoint_dir.parent_path()),
        trial_{sizeof trial_, static_cast<uint32_t>(spec_.attempt), spec_.trial_id.c_str(), spec_.attempt_dir.c_str(),
               trial_dir_.c_str()},
        status_(records() ? spec_.attempt_dir / "status" : std::filesystem::path()) {
    sinks_.log = [this](const std::string& id, int severity, const std::string& text) { Log(id, severity, text); };
    sinks_.cancelled = &g_cancelled;
    sinks_.metrics = MetricsHub::Api();
    sinks_.metrics_impl = metrics_.experiment();
    sinks_.fact = [this](const std::string& id, const std::string& key, const std::string& value) { facts_[id][key] = value; };
    monitor_sinks_ = sinks_;
    monitor_sinks_.metrics_impl = metrics_.machine();
    monitor_sinks_.trial = &trial_;
    monitor_sinks_.fact = nullptr;  // monitors run on a thread of their own, and get no `parallel` and `phase` either
    sinks_.parallel = [this](uint64_t n, void (*piece)(void*, uint64_t), void* context) {
      threads_->parallel().Run(n, piece, context);
    };
    sinks_.phase = PhaseService();
  }

  int Run() {
    InstallCrashHandlers(&status_, [this](const std::string& plugin) {
      const int code = Finish({kExitPlugin, "plugin"}, plugin, plugin + " called exit(); a plugin never ends the process");
      std::fflush(nullptr);
      _exit(code);
    });
    try {
      Load();
      if (task_.kind == TrialTask::Kind::kFilm) WriteFilm();
      if (!records()) return kExitOk;
      loop_->Run();
      if (loop_->stopped_early()) return Finish({kExitTemp, "killed"}, "", "stopped on request");
      return Finish({}, "", "");
    } catch (const TrialFailure& e) {
      return Finish(OutcomeOf(e.status()), e.plugin(), e.status() == BP_E_CONFIG ? e.what() + Places(e.what()) : e.what());
    } catch (const PluginError& e) {
      return Finish({kExitPlugin, "plugin"}, "", e.what());
    } catch (const std::bad_alloc&) {
      return Finish({kExitHostOom, "oom"}, tls_running_plugin, "out of memory");
    } catch (const std::exception& e) {
      // Not a plugin's: a full disk, a folder that has gone. Worth another try from the last checkpoint.
      return Finish({kExitTemp, "temp"}, "", e.what());
    }
  }

 private:
  bool records() const { return task_.kind == TrialTask::Kind::kRun; }
  void Load();
  void LoadEvaluation(uint64_t rows);
  void WriteFilm();
  void RestoreLearner();
  void PreloadTorchIfNeeded();
  std::unique_ptr<LoadedModule> LoadPlugin(const TrialPlugin& plugin) {
    return LoadedModule::Load(plugin.file, torch_version_);
  }
  InstanceOptions Options(const nlohmann::json& options, const std::string& prefix) { return {options, spec_.origin, prefix}; }
  int Finish(Outcome outcome, const std::string& plugin, const std::string& error);
  std::string Places(const std::string& sentence) const;
  void Log(const std::string& id, int severity, const std::string& text);

  TrialSpec spec_;
  const TrialTask task_;
  std::filesystem::path trial_dir_;  // where the checkpoint lies: shared by attempts, a replay's own
  bp_host_trial_1 trial_;            // what monitors are told
  StatusWriter status_;
  std::mutex log_mutex_;  // plugins log from any thread
  MetricsHub metrics_;
  HostSinks sinks_, monitor_sinks_;
  nlohmann::json facts_ = nlohmann::json::object();
  std::string torch_version_;
  std::unique_ptr<TrialThreads> threads_;
  uint64_t chunk_rows_ = 1;
  std::unique_ptr<LoadedModule> env_module_, learner_module_;
  std::vector<std::unique_ptr<LoadedModule>> monitor_modules_;
  std::unique_ptr<EnvInstance> env_, evaluation_env_;
  std::unique_ptr<LearnerInstance> learner_;
  std::unique_ptr<MonitorHost> monitors_;
  std::unique_ptr<TrialLoop> loop_;
};

void TrialProcess::PreloadTorchIfNeeded() {
  Catalog catalog;
  std::vector<std::pair<uint32_t, TrialPlugin>> all = {{BP_KIND_ENV, spec_.env}, {BP_KIND_LEARNER, spec_.learner}};
  for (const TrialPlugin& monitor : spec_.monitors) all.push_back({BP_KIND_MONITOR, monitor});
  for (const auto& [kind, plugin] : all) {
    std::string why_not;
    const PluginInfo* info = catalog.Find(kind, plugin.file.string(), &why_not);
    if (info == nullptr) throw PluginError(why_not);
    if (info->build.torch.empty() || !torch_version_.empty()) continue;
    if (spec_.torch_lib.empty())
      throw PluginError(
          fmt::format("{} needs LibTorch {}, and none is known: set BACKPLANE_TORCH_LIB to the folder of libtorch.so",
                      plugin.id, info->build.torch));
    status_.SetPhase("load libtorch");
    torch_version_ = PreloadTorch(spec_.torch_lib);
  }
}

void TrialProcess::Load() {
  const Experiment& experiment = spec_.experiment;
  status_.SetPhase("load");
  PreloadTorchIfNeeded();
  env_module_ = LoadPlugin(spec_.env);
  learner_module_ = LoadPlugin(spec_.learner);
  const uint64_t env_flags = env_module_->descriptor(spec_.env.id).flags;
  const uint64_t both = env_flags & learner_module_->descriptor(spec_.learner.id).flags;
  // An env that resets itself takes all rows in one call.
  const bool concurrent = (both & BP_FLAG_ROWS_CONCURRENT) != 0 && (env_flags & BP_FLAG_NATIVE_AUTORESET) == 0;
  threads_ = std::make_unique<TrialThreads>(experiment.rollout, concurrent);  // before a plugin's code may ask for them
  const uint64_t rows = experiment.rollout.rows();
  env_ =
      std::make_unique<EnvInstance>(*env_module_, spec_.env.id, sinks_, Options(experiment.env.options, "env.options"), rows);
  learner_ = std::make_unique<LearnerInstance>(*learner_module_, spec_.learner.id, sinks_,
                                               Options(experiment.learner.options, "learner.options"), *env_, experiment.seed);
  monitors_ = std::make_unique<MonitorHost>(monitor_sinks_);
  for (size_t i = 0; task_.kind != TrialTask::Kind::kFilm && i < spec_.monitors.size(); ++i) {
    monitor_modules_.push_back(LoadPlugin(spec_.monitors[i]));
    monitors_->Add(*monitor_modules_.back(), spec_.monitors[i].id,
                   Options(experiment.monitors[i].options, fmt::format("monitors[{}].options", i)));
  }
  chunk_rows_ = concurrent ? experiment.rollout.ChunkRows() : rows;
  const bool films = task_.kind == TrialTask::Kind::kFilm;
  if (films || experiment.evaluation.episodes > 0) LoadEvaluation(films ? 1 : experiment.evaluation.episodes);
  if (!records()) return;
  monitors_->Start();
  loop_ = std::make_unique<TrialLoop>(LoopParts{spec_, *env_, *learner_, evaluation_env_.get(), *monitors_, metrics_, status_,
                                                g_cancelled, *threads_, chunk_rows_});
}

void TrialProcess::LoadEvaluation(uint64_t rows) {
  const Experiment& experiment = spec_.experiment;
  nlohmann::json env_options = experiment.env.options;
  if (experiment.evaluation.env_options.is_object()) env_options.update(experiment.evaluation.env_options);
  evaluation_env_ =
      std::make_unique<EnvInstance>(*env_module_, spec_.env.id, sinks_, Options(env_options, "evaluation.env.options"), rows);
  CheckSameSpaces(*env_, *evaluation_env_);
  if (env_->spec().max_episode_steps == 0 && !(env_->flags() & BP_FLAG_OWNS_TIME_LIMIT))
    throw TrialFailure(BP_E_CONFIG, env_->id(),
                       "has no step limit, so an evaluation might never end; set evaluation.episodes: 0");
}

void TrialProcess::WriteFilm() {
  RestoreLearner();
  const Film film = PlayFilm(*evaluation_env_, *learner_, *threads_, spec_.experiment.seed, task_.episode, g_cancelled);
  WriteFileAtomic(task_.film, JsonText(ToJson(film)));
}

// A learner that keeps no state and learns nothing plays as it is.
void TrialProcess::RestoreLearner() {
  const bp_learner_state_1* state = StateOf(*learner_);
  if (state == nullptr && learner_->spec().n_params == 0) return;
  if (state == nullptr)
    throw TrialFailure(BP_E_UNSUPPORTED, learner_->id(),
                       "keeps nothing of what it learned: it does not offer " BP_LEARNER_STATE_1);
  const std::optional<Checkpoint> checkpoint = ReadCheckpoint(spec_.checkpoint_dir);
  if (!checkpoint)
    throw TrialFailure(BP_E_UNSUPPORTED, learner_->id(),
                       "has no checkpoint in " + spec_.checkpoint_dir.string() +
                           ": one is written when the trial ends, and earlier with checkpoint.every_iterations");
  LoadLearner(*state, *learner_, checkpoint->blobs.at("learner"));
}

// Where the options that a sentence names were set: " (walk.yaml:4:20)".
std::string TrialProcess::Places(const std::string& sentence) const {
  std::string places;
  for (const auto& [path, place] : spec_.origin) {
    const std::string option = path.substr(path.rfind('.') + 1);
    if (path.find(".options.") != std::string::npos && sentence.find(option) != std::string::npos)
      places += (places.empty() ? "" : ", ") + path + " at " + place;
  }
  return places.empty() ? "" : " (" + places + ")";
}

int TrialProcess::Finish(Outcome outcome, const std::string& plugin, const std::string& error) {
  if (!error.empty()) {
    std::fprintf(stderr, "%s\n", error.c_str());
    status_.SetLine(error);
  }
  if (!plugin.empty()) status_.SetPlugin(plugin);
  if (!records()) return outcome.exit;
  if (monitors_) monitors_->Finish(spec_.attempt_dir);
  nlohmann::json result = loop_ ? loop_->Result() : nlohmann::json::object();
  result["schema"] = 1;
  result["trial_id"] = spec_.trial_id;
  result["attempt"] = spec_.attempt;
  result["state"] = outcome.exit == kExitOk ? "COMPLETED" : outcome.exit == kExitTemp ? "KILLED" : "FAILED";
  result["outcome"] = outcome.name;
  result["on_device"] = outcome.exit == kExitGpuOom;
  result["error"] = error.empty() ? nlohmann::json(nullptr) : nlohmann::json(error);
  result["plugin"] = plugin;
  result["phase"] = status_.data().phase;
  if (threads_) {
    result["threads"] = threads_->collecting();
    result["learner_threads"] = threads_->all();
  }
  result["chunk_rows"] = chunk_rows_;
  result["facts"] = facts_;
  result["versions"] = {{"libtorch", torch_version_}};
  if (monitors_) {
    result["events_dropped"] = monitors_->dropped();
    result["warnings"] = monitors_->warnings();
    // Both in seconds: what listening cost, and all that the process computed.
    result["monitors"] = {{"cpu_s", monitors_->cpu_s()}, {"process_cpu_s", ReadClock(CLOCK_PROCESS_CPUTIME_ID) * 1e-9}};
  }
  try {
    WriteFileAtomic(spec_.attempt_dir / "result.json", JsonText(result, 2) + "\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "result.json could not be written: %s\n", e.what());
    return outcome.exit == kExitOk ? static_cast<int>(kExitTemp) : outcome.exit;
  }
  return outcome.exit;
}

void TrialProcess::Log(const std::string& id, int severity, const std::string& text) {
  static const char* const kNames[] = {"", "debug", "info", "warning", "error"};
  const char* name = severity >= BP_LOG_DEBUG && severity <= BP_LOG_ERROR ? kNames[severity] : "note";
  const std::lock_guard lock(log_mutex_);
  std::fprintf(stderr, "%s: %s: %s\n", name, id.c_str(), text.c_str());
  status_.SetLine(text);
}

}  // namespace

int RunTrial(const std::filesystem::path& trial_json, const TrialTask& task) {
  TuneMalloc();
  // Runner threads are the host's; a library's own threads under them only slow both down.
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) setenv(name, "1", 1);
  for (int s : {SIGTERM, SIGINT}) signal(s, OnStop);
  try {
    std::ifstream in(trial_json);
    if (!in) throw std::runtime_error("cannot be read");
    TrialSpec spec = TrialSpecFromJson(nlohmann::json::parse(in));
    if (task.kind == TrialTask::Kind::kRun && std::filesystem::exists(spec.attempt_dir / "result.json"))
      throw std::runtime_error("attempt " + std::to_string(spec.attempt) +
                               " has a result already; `backplane replay OUT TRIAL` runs the trial again beside it");
    // Never destroyed: threads and plugins may still be about when the process leaves.
    auto* process = new TrialProcess(std::move(spec), task);
    return process->Run();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "out of memory\n");
    return kExitHostOom;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", trial_json.c_str(), e.what());
    return kExitUsage;
  }
}

}  // namespace backplane
