// Implementation of the host's side of a plugin instance: bp_host and bp_config.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "backplane/ext/file.h"
#include "backplane/ext/gpus.h"
#include "backplane/ext/shared.h"
#include "backplane/ext/wrapper.h"
#include "backplane/host.h"

namespace backplane {

// The receivers of all instances' service calls in a process.
struct HostSinks {
  std::function<void(const std::string& plugin_id, int severity, const std::string& text)> log;  // [any]
  const std::atomic<bool>* cancelled = nullptr;
  const bp_host_metrics_1* metrics = nullptr;  // NULL: the extension is absent
  void* metrics_impl = nullptr;                // returned by MetricsImpl(host)
  std::function<void(const std::string& plugin_id, const std::string& key, const std::string& value)> fact;  // empty: absent
  const bp_host_trial_1* trial = nullptr;                      // NULL: the extension is absent
  const bp_host_gpus_1* gpus = nullptr;                        // likewise
  std::function<void(const std::string& plugin_id)> uses_gpu;  // bp_host_gpus_1.use, called by UseGpu
  std::shared_ptr<const void> owner;       // of metrics_impl and `trial`, for users that may outlive them; NULL: none
  const bp_host_phase_1* phase = nullptr;  // NULL: the extension is absent
  // bp_host_parallel_1.run; empty: the extension is absent
  std::function<void(uint64_t n, void (*piece)(void*, uint64_t), void* context)> parallel;
  // bp_host_part_1.open; throws the text of `why_not`. Empty: the extension is absent
  std::function<const void*(const std::string& plugin_id, const std::string& name)> part;
  std::filesystem::path file_folder;  // of a learner's files (bp.host.file/1); empty: they are memory of the process
};

class HostServices;

// The services of this host by id, each once: for instances, and for the needs of plugins.
struct HostService {
  const char* id;
  const void* (*of)(const HostServices& services);  // NULL: absent for this instance
};
std::span<const HostService> HostServiceTable();

// One per plugin instance; must outlive it.
class HostServices {
 public:
  HostServices(std::string plugin_id, const HostSinks* sinks);
  HostServices(const HostServices&) = delete;

  const bp_host* get() const { return &host_; }
  const std::string& plugin_id() const { return plugin_id_; }
  // Returns and clears the sentence of the last `fail`; "no reason given" if there was none. [any]
  std::string TakeError();
  bool HasError();  // a call of TakeError would return a sentence of the plugin. [any]
  const HostSinks& sinks() const { return *sinks_; }
  const void* OpenPart(const char* name, const char** borrow_why_not) noexcept;
  // Why the last part that was asked for could not be opened; empty: none failed.
  const std::string& part_error() const { return part_error_; }
  // bp.host.file/1 for this instance; NULL: absent. `impl` is returned by FilesImpl(host).
  void OfferFiles(const bp_host_file_1* api, std::shared_ptr<void> impl) { files_ = api, files_impl_ = std::move(impl); }
  const bp_host_file_1* files() const { return files_; }
  // bp.host.env/1 for this instance, a wrapper; NULL: absent. `below`, which outlives it, is returned by EnvImpl(host).
  void OfferEnv(const bp_host_env_1* api, void* below) { env_ = api, env_impl_ = below; }
  const bp_host_env_1* env() const { return env_; }
  static void* EnvImpl(const bp_host* host);
  // bp.host.shared/1 for this instance, a learner; NULL: absent. `impl` is returned by SharedImpl(host).
  void OfferShared(const bp_host_shared_1* api, std::shared_ptr<void> impl) { shared_ = api, shared_impl_ = std::move(impl); }
  const bp_host_shared_1* shared() const { return shared_; }
  static void* SharedImpl(const bp_host* host);
  static void* FilesImpl(const bp_host* host);
  // The last error of a service that returns a status. The plugin may return the status with a sentence of its own.
  struct ServiceError {
    bp_status status = BP_OK;
    std::string sentence;
    bool of_machine = false;  // a full disk: the plugin is not at fault
  };
  bp_status FailService(ServiceError error);
  const ServiceError& service_error() const { return service_error_; }
  bool cancelled() const { return Cancelled(&host_) != 0; }  // the user asked to stop. [any]
  static void* MetricsImpl(const bp_host* host);
  static void UseGpu(const bp_host* host) noexcept;  // for bp_host_gpus_1

 private:
  static const void* Extension(const bp_host* host, const char* id) noexcept;
  static void Log(const bp_host* host, int32_t severity, const char* utf8) noexcept;
  static bp_status Fail(const bp_host* host, bp_status code, const char* utf8) noexcept;
  static int32_t Cancelled(const bp_host* host) noexcept;

  std::string plugin_id_;
  const HostSinks* sinks_;
  std::mutex mutex_;
  std::string error_, part_error_;
  ServiceError service_error_;
  const bp_host_file_1* files_ = nullptr;
  std::shared_ptr<void> files_impl_;
  const bp_host_env_1* env_ = nullptr;
  void* env_impl_ = nullptr;
  const bp_host_shared_1* shared_ = nullptr;
  std::shared_ptr<void> shared_impl_;
  bp_host host_;
};

// bp_config over a complete options object. `origin`: whole path of a key ("env.options.lr", with `prefix` "env.options") ->
// place; keys elsewhere are ignored. An option without a value (null) is treated like an undeclared one. Must outlive `create`.
class OptionView {
 public:
  OptionView(nlohmann::json options, std::map<std::string, std::string> origin, std::string prefix);
  OptionView(const OptionView&) = delete;

  const bp_config* get() const { return &config_; }
  const nlohmann::json* Find(const std::string& path) const;  // NULL: not there, or null

 private:
  static bp_status F64(const bp_config* config, const char* path, double* out) noexcept;
  static bp_status I64(const bp_config* config, const char* path, int64_t* out) noexcept;
  static bp_status Str(const bp_config* config, const char* path, const char** borrow_out) noexcept;
  static bp_status List(const bp_config* config, const char* path, uint64_t cap, double* out, uint64_t* out_n) noexcept;
  static const char* Json(const bp_config* config) noexcept;
  static const char* Where(const bp_config* config, const char* path) noexcept;

  nlohmann::json options_;
  std::map<const nlohmann::json*, std::string> structures_;  // JSON texts of the mappings and lists among the options
  std::map<std::string, std::string> origin_;
  std::string prefix_, text_;
  bp_config config_;
};

}  // namespace backplane
