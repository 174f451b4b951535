// What a trial is made of: its plugins loaded, an instance of each, and what the host offers them.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
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
    uint64_t evaluation_rows = 0;  // of the env that plays evaluations; 0: none
  };

  // Spec, status and `cancelled` outlive it.
  TrialParts(const TrialSpec& spec, StatusWriter* status, const std::atomic<bool>* cancelled, Log log);
  TrialParts(const TrialParts&) = delete;

  // Once. Throws TrialFailure or PluginError; section() then says whose options were being read.
  void Load(const Wanted& wanted);
  // After Load: other instances of env and learner, as they were made first, where those are good for nothing more.
  void MakeAnew();
  // Ends the learner and the envs, as the destructor does, but throws TrialFailure where one fails at that. Monitors stay.
  void Destroy();
  const std::string& section() const { return section_; }  // "env.options"; empty: none yet

  EnvInstance& env() { return *env_; }
  LearnerInstance& learner() { return *learner_; }
  EnvInstance* evaluation_env() { return evaluation_env_.get(); }  // NULL: none wanted
  TrialThreads* threads() { return threads_.get(); }               // NULL, as monitors(): loading did not come so far
  MonitorHost* monitors() { return monitors_.get(); }
  MetricsHub& metrics() { return shared_->metrics; }
  uint64_t chunk_rows() const { return chunk_rows_; }  // what the trial's numbers depend on
  uint64_t call_rows() const { return call_rows_; }    // of a rollout's calls: a multiple of it, with the same numbers
  // By plugin id, as plugins recorded them. The env that plays evaluations may be made with other options and has a key of its
  // own, "env.name@evaluation".
  const PluginFacts& facts() const { return facts_; }
  const std::string& torch_version() const { return torch_version_; }

 private:
  void ReadPluginsAndPreloadTorch();
  void LoadTorchFor(const PluginInfo& info);
  const void* OpenPart(const std::string& plugin_id, const std::string& name);
  void MakeEnvAndLearner();
  void LoadEvaluation(uint64_t rows);
  InstanceOptions Options(const TrialPlugin& plugin, nlohmann::json options, const std::string& section);

  const TrialSpec& spec_;
  StatusWriter& status_;
  // What monitors look at, whose threads may outlive all else here.
  struct Shared {
    explicit Shared(const TrialSpec& spec);
    const std::string trial_id, attempt_dir;
    const std::string trial_dir;  // where the checkpoint lies: shared by attempts, a replay's own
    const bp_host_trial_1 trial;  // what learners and monitors are told
    MetricsHub metrics;
  };
  const std::shared_ptr<Shared> shared_;
  HostSinks sinks_, evaluation_sinks_, learner_sinks_, monitor_sinks_;
  PluginFacts facts_;
  std::map<std::filesystem::path, PluginInfo> infos_;  // of each plugin file
  std::string torch_version_, section_;
  std::unique_ptr<TrialThreads> threads_;
  uint64_t chunk_rows_ = 1, call_rows_ = 1;
  std::unique_ptr<LoadedModule> env_module_, learner_module_;
  std::vector<std::unique_ptr<LoadedModule>> monitor_modules_;
  std::map<std::filesystem::path, std::unique_ptr<LoadedModule>> part_modules_;
  std::unique_ptr<EnvInstance> env_, evaluation_env_;
  std::unique_ptr<LearnerInstance> learner_;
  std::unique_ptr<MonitorHost> monitors_;
};

}  // namespace backplane
