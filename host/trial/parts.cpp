#include "trial/parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/bounded.hpp"
#include "plugin/catalog.hpp"
#include "plugin/host_named.hpp"
#include "plugin/part.hpp"
#include "plugin/torch_folder.hpp"
#include "rollout/phase_service.hpp"

namespace backplane {
namespace {

// Suffix of an env's id for the facts of the evaluation env.
constexpr char kOfEvaluation[] = "@evaluation";

constexpr size_t kMaxFacts = 1000, kMaxKey = 256;

void KeepFact(std::map<std::string, nlohmann::json>* facts, const std::string& key, const std::string& value) {
  if (facts->size() < kMaxFacts || facts->contains(key)) (*facts)[Bounded(key, kMaxKey)] = Bounded(value);
}

}  // namespace

TrialParts::Shared::Shared(const TrialSpec& spec)
    : trial_id(spec.trial_id),
      attempt_dir(spec.attempt_dir.string()),
      trial_dir(spec.checkpoint_dir.parent_path().string()),
      trial{sizeof trial, static_cast<uint32_t>(spec.attempt), trial_id.c_str(), attempt_dir.c_str(), trial_dir.c_str()},
      gpus{sizeof gpus, static_cast<uint32_t>(std::ceil(spec.experiment.resources.gpus)), HostServices::UseGpu} {}

TrialParts::TrialParts(const TrialSpec& spec, StatusWriter* status, const std::atomic<bool>* cancelled, Log log)
    : spec_(spec), status_(*status), shared_(std::make_shared<Shared>(spec)) {
  sinks_.log = std::move(log);
  sinks_.cancelled = cancelled;
  sinks_.metrics = MetricsHub::Api();
  sinks_.metrics_impl = shared_->metrics.experiment();
  sinks_.fact = [this](const std::string& id, const std::string& key, const std::string& value) {
    KeepFact(&facts_[id], key, value);
  };
  monitor_sinks_ = sinks_;
  monitor_sinks_.metrics_impl = shared_->metrics.machine();
  monitor_sinks_.trial = &shared_->trial;
  monitor_sinks_.owner = shared_;
  monitor_sinks_.fact = nullptr;  // monitors run on their own threads and get no `parallel` and `phase` either
  sinks_.parallel = [this](uint64_t n, void (*piece)(void*, uint64_t), void* context) {
    threads_->parallel().Run(n, piece, context);
  };
  sinks_.phase = PhaseService();
  sinks_.gpus = &shared_->gpus;
  sinks_.uses_gpu = [this](const std::string&) { uses_gpu_ = true; };
  sinks_.part = [this](const std::string& id, const std::string& name) { return OpenPart(id, name); };
  evaluation_sinks_ = sinks_;
  evaluation_sinks_.fact = [this](const std::string& id, const std::string& key, const std::string& value) {
    KeepFact(&facts_[id + kOfEvaluation], key, value);
  };
  learner_sinks_ = sinks_;
  learner_sinks_.trial = &shared_->trial;
}

InstanceOptions TrialParts::Options(const TrialPlugin& plugin, nlohmann::json options, const std::string& section) {
  section_ = section;
  AddHostNamed(infos_.at(plugin.file), ToJson(spec_.experiment), &options);
  return {std::move(options), spec_.origin, section};
}

void TrialParts::ReadPluginsAndPreloadTorch() {
  Catalog catalog;
  std::vector<std::pair<uint32_t, TrialPlugin>> all = {{BP_KIND_ENV, spec_.env}, {BP_KIND_LEARNER, spec_.learner}};
  if (other_env_) all.push_back({BP_KIND_ENV, *other_env_});
  for (const TrialPlugin& wrapper : spec_.wrappers) all.push_back({BP_KIND_ENV, wrapper});
  for (const TrialPlugin& monitor : spec_.monitors) all.push_back({BP_KIND_MONITOR, monitor});
  for (const auto& [kind, plugin] : all) {
    std::string why_not;
    const PluginInfo* info = catalog.Find(kind, plugin.file.string(), &why_not);
    if (info == nullptr) throw PluginError(why_not);
    infos_.emplace(plugin.file, *info);
    LoadTorchFor(*info);
  }
}

void TrialParts::LoadTorchFor(const PluginInfo& info) {
  if (info.build.torch.empty() || !torch_version_.empty()) return;
  if (spec_.torch_lib.empty())
    throw PluginError(fmt::format("{} needs LibTorch {}, which was not found; {}", info.id, info.build.torch, kSetUpTorch));
  status_.SetPhase("load libtorch");
  torch_version_ = PreloadTorch(spec_.torch_lib);
  RestoreState("LibTorch");
}

const void* TrialParts::OpenPart(const std::string& plugin_id, const std::string& name) {
  const TrialPlugin& plugin = plugin_id == spec_.env.id ? spec_.env : spec_.learner;
  const PluginInfo part = FindPart(infos_.at(plugin.file), name);
  std::unique_ptr<LoadedModule>& module = part_modules_[part.file];
  if (!module) {
    LoadTorchFor(part);
    module = LoadedModule::Load(part.file, torch_version_);
    RestoreState(part.id);
  }
  return module->api<void>(part.id);
}

void TrialParts::Load(const Wanted& wanted) {
  const Experiment& experiment = spec_.experiment;
  const auto load = [this](const TrialPlugin& plugin) {
    tls_running_plugin = plugin.id.c_str();  // runs its static constructors and its init
    auto module = LoadedModule::Load(plugin.file, torch_version_);
    RestoreState(plugin.id);
    return module;
  };
  NameSuspects(spec_.env.id + " or " + spec_.learner.id);
  status_.SetPhase("load");
  other_env_ = wanted.evaluation_env;
  learner_sinks_.file_folder = wanted.file_folder;
  ReadPluginsAndPreloadTorch();
  env_module_ = load(spec_.env);
  learner_module_ = load(spec_.learner);
  for (const TrialPlugin& wrapper : spec_.wrappers) wrapper_modules_.push_back(load(wrapper));
  const uint64_t env_flags = FlagsOfEnv();
  if (other_env_) other_env_module_ = load(*other_env_);
  const uint64_t learner_flags = learner_module_->descriptor(spec_.learner.id).flags;
  uint64_t both = env_flags & learner_flags;
  if (other_env_) both &= other_env_module_->descriptor(other_env_->id).flags;
  // An env that resets itself steps all rows in one call.
  const bool resets_itself = (env_flags & BP_FLAG_NATIVE_AUTORESET) != 0;
  const bool concurrent = (both & BP_FLAG_ROWS_CONCURRENT) != 0 && !resets_itself;
  const bool steps = (env_flags & BP_FLAG_ROWS_CONCURRENT) != 0 && !resets_itself;
  threads_ = std::make_unique<TrialThreads>(experiment.rollout, TrialThreads::Concurrent{concurrent, steps});  // before plugins
  const uint64_t rows = experiment.rollout.rows();
  chunk_rows_ = call_rows_ = concurrent ? experiment.rollout.ChunkRows() : rows;
  acts_whole_ = steps && (learner_flags & BP_FLAG_ROWS_CONCURRENT) == 0 && experiment.rollout.workers == 0;
  const bool any_rows =
      (env_flags & BP_FLAG_MANY_ROWS) != 0 && (learner_module_->descriptor(spec_.learner.id).flags & BP_FLAG_ROW_EXACT) != 0;
  // Rollout workers share chunks, and all processes must call for the same rows.
  if (concurrent && any_rows && !experiment.rollout.chunk_rows && experiment.rollout.workers == 0)
    call_rows_ = ManyRowsOfACall(chunk_rows_, rows / threads_->collecting());
  MakeEnvAndLearner();
  monitors_ = std::make_unique<MonitorHost>(monitor_sinks_, MonitorPatience::Within(experiment.resources.hang_timeout_s));
  for (size_t i = 0; wanted.monitors && i < spec_.monitors.size(); ++i) {
    monitor_modules_.push_back(load(spec_.monitors[i]));
    status_.Beat();
    monitors_->Add(*monitor_modules_.back(), spec_.monitors[i].id,
                   Options(spec_.monitors[i], experiment.monitors[i].options, fmt::format("monitors.{}.options", i)));
    status_.Beat();
    RestoreProcessState(spec_.monitors[i].id);
  }
  if (wanted.evaluation_rows > 0) LoadEvaluation(wanted.evaluation_rows);
}

uint64_t TrialParts::FlagsOfEnv() const {
  uint64_t flags = env_module_->descriptor(spec_.env.id).flags;
  for (size_t i = 0; i < wrapper_modules_.size(); ++i)
    flags = FlagsOfChain(wrapper_modules_[i]->descriptor(spec_.wrappers[i].id).flags, flags);
  return flags;
}

std::unique_ptr<EnvInstance> TrialParts::MakeEnv(const LoadedModule& module, const TrialPlugin& plugin,
                                                 const nlohmann::json& options, const std::string& section,
                                                 const HostSinks& sinks, uint64_t rows) {
  auto env = std::make_unique<EnvInstance>(module, plugin.id, sinks, Options(plugin, options, section), rows);
  RestoreState(plugin.id);
  for (size_t i = 0; i < spec_.wrappers.size(); ++i) {
    const TrialPlugin& wrapper = spec_.wrappers[i];
    InstanceOptions own = Options(wrapper, spec_.experiment.wrappers[i].options, fmt::format("env.wrappers.{}.options", i));
    env = std::make_unique<EnvInstance>(*wrapper_modules_[i], wrapper.id, sinks, own, rows, std::move(env));
    RestoreState(wrapper.id);
  }
  return env;
}

void TrialParts::MakeEnvAndLearner() {
  const Experiment& experiment = spec_.experiment;
  env_ = MakeEnv(*env_module_, spec_.env, experiment.env.options, "env.options", sinks_, experiment.rollout.rows());
  learner_ = std::make_unique<LearnerInstance>(*learner_module_, spec_.learner.id, learner_sinks_,
                                               Options(spec_.learner, experiment.learner.options, "learner.options"), *env_,
                                               experiment.seed);
  RestoreState(spec_.learner.id);
}

void TrialParts::MakeAnew() {
  const uint64_t evaluation_rows = evaluation_env_ ? evaluation_env_->rows() : 0;
  Destroy();
  evaluation_env_.reset();
  learner_.reset();
  env_.reset();
  MakeEnvAndLearner();
  if (evaluation_rows > 0) LoadEvaluation(evaluation_rows);
}

void TrialParts::Destroy() {
  if (learner_) learner_->Destroy();
  if (evaluation_env_) evaluation_env_->Destroy();
  if (env_) env_->Destroy();
  tls_running_plugin = "";
}

void TrialParts::LoadEvaluation(uint64_t rows) {
  const Experiment& experiment = spec_.experiment;
  const TrialPlugin& plugin = other_env_ ? *other_env_ : spec_.env;
  nlohmann::json env_options = other_env_ ? nlohmann::json::object() : experiment.env.options;
  if (experiment.evaluation.env_options.is_object()) env_options.update(experiment.evaluation.env_options);
  evaluation_env_ = MakeEnv(other_env_ ? *other_env_module_ : *env_module_, plugin, env_options, "evaluation.env.options",
                            evaluation_sinks_, rows);
  CheckSameSpaces(*env_, *evaluation_env_);
}

}  // namespace backplane
