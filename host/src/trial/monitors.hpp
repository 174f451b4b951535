// Runs the monitors of a trial on one thread of its own: events in batches, samples about once a second. The hot path never
// waits for it: a full queue drops events and counts them, and a monitor that fails is switched off.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backplane/monitor.h"
#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "rollout/instance.hpp"

namespace backplane {

class MonitorHost {
 public:
  static constexpr size_t kSpanLimit = 1 << 17;  // PHASE events that may wait for the monitors, about 16 MiB

  explicit MonitorHost(const HostSinks& sinks) : sinks_(sinks) {}
  ~MonitorHost();
  MonitorHost(const MonitorHost&) = delete;

  // Throws TrialFailure if it cannot be created.
  void Add(const LoadedModule& module, const std::string& id, const InstanceOptions& options);
  void Start();
  // Delivers what is left, calls finish(out_dir) on each and ends the thread.
  void Finish(const std::filesystem::path& out_dir);

  bool Wants(uint32_t type) const { return (interests_ & (uint64_t{1} << type)) != 0; }
  // Copies the event and its texts; returns at once. t_ns 0 stands for now. [any]
  void Post(bp_event event, const std::string& name, const std::string& detail = "");
  // PHASE events, with names that live to the end; `lost` were dropped before. [any]
  void PostSpans(const std::vector<bp_event>& events, uint64_t lost);
  uint64_t dropped() const { return dropped_; }
  // CPU time that the monitors took, seconds: that of their thread and of finish. After Finish.
  double cpu_s() const { return static_cast<double>(cpu_ns_) * 1e-9; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Monitor {
    std::unique_ptr<HostServices> services;
    const bp_monitor_api* api;
    bp_monitor* instance;
    uint64_t interests;
    bool on = true;
  };
  struct Stored {
    bp_event event;
    std::string detail;
  };
  void Work();
  void Deliver(const std::vector<Stored>& events);
  void CollectInterests();
  // One that fails is switched off with a warning.
  template <class Function>
  void Call(Monitor& monitor, const char* doing, Function&& function);

  const HostSinks& sinks_;
  std::vector<Monitor> monitors_;
  std::atomic<uint64_t> interests_{0};  // of all that are on
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Stored> queue_;
  size_t spans_waiting_ = 0;     // of the queue
  std::set<std::string> names_;  // event names live to the end
  uint64_t seq_ = 0, dropped_ = 0;
  int64_t cpu_ns_ = 0;
  bool stop_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace backplane
