// The monitors of a trial, each on its own thread (monitor_thread.hpp): batches of events, and a sample about once a second.
// The hot path never waits for them: a full queue drops and counts events, and a failing monitor is switched off.
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

  // Throws TrialFailure if the monitor rejects its options.
  void Add(const LoadedModule& module, const std::string& id, const InstanceOptions& options);
  void Start();
  // Lets all monitors deliver their queue, finish(out_dir) and destroy, in parallel and within the patience. Leaves late ones
  // behind with a warning. Calls `after_1s` once if it takes longer than that.
  void Finish(const std::filesystem::path& out_dir, const std::function<void()>& after_1s = {});

  bool Wants(uint32_t type) const;  // [any]
  // Copies the event and its texts without waiting. t_ns 0 means now. [any]
  void Post(bp_event event, const std::string& name, const std::string& detail = "");
  // The same for several, delivered in one call of on_events.
  struct NamedEvent {
    bp_event event;
    std::string name;
  };
  void PostTogether(const std::vector<NamedEvent>& events);
  // Posts PHASE events, whose names must live to the end. `lost`: events dropped before. [any]
  void PostSpans(std::vector<bp_event> events, uint64_t lost);

  bool empty() const { return monitors_.empty(); }
  std::string Unfinished() const;  // ids of monitors that have not ended, joined by " or "
  uint64_t dropped() const;        // events, summed over the monitors that wanted them
  // CPU time of the monitors' threads, seconds.
  double cpu_s() const;
  std::vector<std::string> warnings() const;
  std::optional<EndedBy> Verdict() const;  // the first monitor's that ends the trial; absent: none does

 private:
  const HostSinks& sinks_;
  const MonitorPatience patience_;
  std::vector<std::unique_ptr<MonitorThread>> monitors_;
  mutable std::mutex mutex_;  // guards the names and the event numbers
  const std::shared_ptr<EventNames> names_;
  uint64_t seq_ = 0, lost_ = 0;
};

}  // namespace backplane
