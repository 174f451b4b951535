// The monitors of a trial, each on a thread of its own (monitor_thread.hpp): events in batches, samples about once a second.
// The hot path never waits for them: a full queue drops events and counts them, and a monitor that fails is switched off.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trial/monitor_thread.hpp"

namespace backplane {

class MonitorHost {
 public:
  static constexpr size_t kSpanLimit = MonitorThread::kSpanLimit;

  explicit MonitorHost(const HostSinks& sinks, const MonitorPatience& patience = {})
      : sinks_(sinks), patience_(patience), names_(std::make_shared<EventNames>()) {}
  MonitorHost(const MonitorHost&) = delete;

  // Throws TrialFailure if the monitor refuses its options.
  void Add(const LoadedModule& module, const std::string& id, const InstanceOptions& options);
  void Start();
  // Has each deliver what is left, finish(out_dir) and destroy, all at the same time and within the patience. One that has not
  // ended by then is left behind with a warning. `after_1s` is called once where it takes longer than that.
  void Finish(const std::filesystem::path& out_dir, const std::function<void()>& after_1s = {});

  bool Wants(uint32_t type) const;  // [any]
  // Copies the event and its texts; returns at once. t_ns 0 stands for now. [any]
  void Post(bp_event event, const std::string& name, const std::string& detail = "");
  // The same of several, which a monitor gets in one call of on_events.
  struct NamedEvent {
    bp_event event;
    std::string name;
  };
  void PostTogether(const std::vector<NamedEvent>& events);
  // PHASE events, with names that live to the end; `lost` were dropped before. [any]
  void PostSpans(std::vector<bp_event> events, uint64_t lost);

  bool empty() const { return monitors_.empty(); }
  std::string Unfinished() const;  // the ids of those that have not ended, with " or " between them
  uint64_t dropped() const;        // events, summed over the monitors that wanted them
  // CPU time that the monitors took, seconds: that of their threads.
  double cpu_s() const;
  std::vector<std::string> warnings() const;

 private:
  const HostSinks& sinks_;
  const MonitorPatience patience_;
  std::vector<std::unique_ptr<MonitorThread>> monitors_;
  mutable std::mutex mutex_;  // guards the names and the numbers of events
  const std::shared_ptr<EventNames> names_;
  uint64_t seq_ = 0, lost_ = 0;
};

}  // namespace backplane
