// The plugin under validation and its instances. The first case that needs it loads it, in its own process.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/ext/verdict.h"
#include "backplane/monitor.h"
#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "plugin/plugin_info.hpp"
#include "rollout/instance.hpp"
#include "trial/metrics.hpp"

namespace backplane {

// Settings of a validation.
struct ValidateSetting {
  uint64_t seed = 0;
  nlohmann::json options = nlohmann::json::object();  // all options of the plugin, with defaults
  std::vector<std::string> given;                     // those given by the user
  const PluginInfo* env = nullptr;                    // env for a learner; NULL: the envs of env_for_learners.hpp
  nlohmann::json env_options = nlohmann::json::object();
  double speed_for_s = 0.2;  // duration of the steps that measure speed
};

// True if the plugin, or the env for it, is built against LibTorch.
bool NeedsTorch(const PluginInfo& info, const ValidateSetting& setting);

class MonitorInstance;

class Subject {
 public:
  // `folder`: an existing, empty folder for the plugin's files.
  Subject(const PluginInfo& info, const ValidateSetting& setting, std::filesystem::path folder);
  Subject(const Subject&) = delete;

  const PluginInfo& info() const { return info_; }
  const ValidateSetting& setting() const { return setting_; }
  uint64_t seed() const { return setting_.seed; }
  // Ends the case as FAILED if it cannot be loaded.
  const LoadedModule& module();
  // Loads LibTorch if the plugin or its env is built against it, before the plugin itself.
  void LoadTorch();

  // Services as in a trial; `bare`: only those that the plugin needs.
  const HostSinks& sinks(bool bare = false) { return bare ? bare_sinks_ : sinks_; }
  const std::filesystem::path& folder() const { return folder_; }

  // Ends the case of a wrapper as SKIPPED, for this reason.
  void NeedNoWrapper(const char* why);

  const OptionInfo* MissingOption() const;  // a required option without a value; NULL: none
  InstanceOptions Options() const { return {setting_.options, {}, "options"}; }

  // A wrapper is made over the user's env, or over the validator's first one. Ends the case as SKIPPED if the first instance of
  // a process cannot be created: the case `create` reports the reason.
  std::unique_ptr<EnvInstance> MakeEnv(uint64_t rows, bool bare = false);
  // An env for a learner: the user's, or the validator's first one that suits the learner.
  std::unique_ptr<EnvInstance> MakeEnvFor(uint64_t rows);
  std::unique_ptr<LearnerInstance> MakeLearner(const EnvInstance& env, uint64_t seed, bool bare = false);

  // A monitor of the trial's next attempt, whose folder is new; folder() is that folder from now on. Throws TrialFailure.
  std::unique_ptr<MonitorInstance> MakeMonitor(bool bare = false);
  // The errors of a learner that fits none of the validator's envs.
  const std::string& why_no_env() const { return why_no_env_; }

  // Throws only TrialFailure.
  void TryCreate(const nlohmann::json& options);

 private:
  void NextAttempt();
  const void* OpenPart(const std::string& plugin_id, const std::string& name);
  template <class Make>
  auto Made(Make&& make);
  bool IsWrapper();
  std::unique_ptr<EnvInstance> MakeEnvBelow(uint64_t rows);  // NULL: the plugin is no wrapper
  std::unique_ptr<EnvInstance> MakeGivenEnv(uint64_t rows);
  std::unique_ptr<EnvInstance> MakeOwnEnv(const std::string& id, uint64_t rows);

  const PluginInfo& info_;
  const ValidateSetting& setting_;
  std::filesystem::path folder_;
  std::string folder_text_, trial_dir_;
  bp_host_trial_1 trial_;
  std::atomic<bool> cancelled_{false};
  MetricsHub metrics_;
  HostSinks sinks_, bare_sinks_, env_sinks_;  // env_sinks_: for the env used to test a learner
  std::string torch_version_;
  std::unique_ptr<LoadedModule> module_, env_module_;
  std::map<std::filesystem::path, std::unique_ptr<LoadedModule>> parts_;
  std::string env_id_, why_no_env_;  // found by MakeEnvFor
  // The learner that found it; MakeLearner returns it to the first caller for that env.
  const EnvInstance* probe_env_ = nullptr;
  std::unique_ptr<LearnerInstance> probe_;
  bool made_ = false;
};

// A monitor, called as by its thread.
class MonitorInstance {
 public:
  // Throws TrialFailure.
  MonitorInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks, const InstanceOptions& options);
  MonitorInstance(const MonitorInstance&) = delete;

  uint64_t Interests() const;
  bp_status OnEvents(const bp_event* events, uint64_t n);
  bp_status Sample(int64_t t_ns);
  bp_status Finish(const std::string& folder);
  const void* Extension(const char* id) const;
  uint32_t Verdict(const bp_monitor_verdict_1& table, const char** reason) const;
  // True if the host calls it after its creation.
  bool TakesAnything() const { return (api_->on_events && Interests() != 0) || api_->sample || api_->finish; }
  std::string TakeError() { return services_.TakeError(); }

 private:
  HostServices services_;
  const bp_monitor_api* api_;
  PluginHandle<bp_monitor> monitor_;
};

}  // namespace backplane
