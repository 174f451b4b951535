// The parts of a trial: its loaded plugins, an instance of each, and the host's services for them.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contract/trial_spec.hpp"
#include "plugin/plugin_info.hpp"
#include "rollout/instance.hpp"
#include "trial/metrics.hpp"
#include "trial/monitors.hpp"
#include "trial/status.hpp"
#include "trial/threads.hpp"

namespace backplane {

class TrialParts {
 public:
  using Log = std::function<void(const std::string& plugin_id, int severity, const std::string& text)>;  // [any]
  struct Wanted {
    bool monitors = true;
    uint64_t evaluation_rows = 0;                    // rows of the evaluation env; 0: no such env
    std::optional<TrialPlugin> evaluation_env = {};  // instead of the training's plugin, with the evaluation's options only
    std::filesystem::path file_folder = {};          // of the learner's files; empty: they are memory of the process
  };

  // Spec, status and `cancelled` outlive it.
  TrialParts(const TrialSpec& spec, StatusWriter* status, const std::atomic<bool>* cancelled, Log log);
  TrialParts(const TrialParts&) = delete;

  // Call once. Throws TrialFailure or PluginError; section() then names the options in use.
  void Load(const Wanted& wanted);
  // Call after Load: creates new instances of env and learner with the same options, if the first ones are unusable.
  void MakeAnew();
  // From now on, env and learner see this request to stop instead of the one given at construction.
  void SetStop(const std::atomic<bool>* stop) { sinks_.cancelled = learner_sinks_.cancelled = stop; }
  // Destroys the learner and the envs like the destructor, but throws TrialFailure if one fails. Monitors stay.
  void Destroy();
  const std::string& section() const { return section_; }  // "env.options"; empty: none yet

  EnvInstance& env() { return *env_; }
  LearnerInstance& learner() { return *learner_; }
  EnvInstance* evaluation_env() { return evaluation_env_.get(); }  // NULL: not requested
  TrialThreads* threads() { return threads_.get(); }               // NULL, like monitors(), if loading failed earlier
  MonitorHost* monitors() { return monitors_.get(); }
  MetricsHub& metrics() { return shared_->metrics; }
  uint64_t chunk_rows() const { return chunk_rows_; }  // the results depend on it
  uint64_t call_rows() const { return call_rows_; }    // rows per rollout call: a multiple of it with the same results
  bool acts_whole() const { return acts_whole_; }      // only the learner is not thread-safe: the env steps in ChunkRows
  // By plugin id, as recorded by the plugins. The evaluation env may have different options, so it has its own key,
  // "env.name@evaluation".
  const PluginFacts& facts() const { return facts_; }
  // An env or a learner computes on a GPU (ext/gpus.h), or the env's channels are on one. Valid after Load.
  bool UsesGpu() const { return uses_gpu_ || env_->spec().device.type != BP_DEVICE_CPU; }
  const std::string& torch_version() const { return torch_version_; }

 private:
  void ReadPluginsAndPreloadTorch();
  void LoadTorchFor(const PluginInfo& info);
  const void* OpenPart(const std::string& plugin_id, const std::string& name);
  void MakeEnvAndLearner();
  // With the experiment's wrappers over it.
  std::unique_ptr<EnvInstance> MakeEnv(const LoadedModule& module, const TrialPlugin& plugin, const nlohmann::json& options,
                                       const std::string& section, const HostSinks& sinks, uint64_t rows);
  uint64_t FlagsOfEnv() const;
  void LoadEvaluation(uint64_t rows);
  InstanceOptions Options(const TrialPlugin& plugin, nlohmann::json options, const std::string& section);

  const TrialSpec& spec_;
  StatusWriter& status_;
  // Data for the monitors, whose threads may outlive all other parts.
  struct Shared {
    explicit Shared(const TrialSpec& spec);
    const std::string trial_id, attempt_dir;
    const std::string trial_dir;  // folder of the checkpoint: shared by all attempts, separate for a replay
    const bp_host_trial_1 trial;  // for learners and monitors
    const bp_host_gpus_1 gpus;    // for envs and learners
    MetricsHub metrics;
  };
  const std::shared_ptr<Shared> shared_;
  HostSinks sinks_, evaluation_sinks_, learner_sinks_, monitor_sinks_;
  PluginFacts facts_;
  bool uses_gpu_ = false;
  std::map<std::filesystem::path, PluginInfo> infos_;  // by plugin file
  std::string torch_version_, section_;
  std::unique_ptr<TrialThreads> threads_;
  uint64_t chunk_rows_ = 1, call_rows_ = 1;
  bool acts_whole_ = false;
  std::unique_ptr<LoadedModule> env_module_, learner_module_;
  std::optional<TrialPlugin> other_env_;  // of the evaluation
  std::unique_ptr<LoadedModule> other_env_module_;
  std::vector<std::unique_ptr<LoadedModule>> wrapper_modules_, monitor_modules_;
  std::map<std::filesystem::path, std::unique_ptr<LoadedModule>> part_modules_;
  std::unique_ptr<EnvInstance> env_, evaluation_env_;
  std::unique_ptr<LearnerInstance> learner_;
  std::unique_ptr<MonitorHost> monitors_;
};

}  // namespace backplane
