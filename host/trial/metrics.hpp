// Numbers that plugins and the host record during an iteration, by name, averaged when the iteration ends.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backplane/host.h"
#include "record/host_metrics.hpp"
#include "trial/phase_meter.hpp"

namespace backplane {

class MetricsHub {
 public:
  struct Metric {
    std::string name, unit, doc;
    int direction = 0;
    double sum = 0;
    uint64_t n = 0;
  };
  // Monitors measure the machine, everyone else the experiment: the two never mix in a record.
  struct Scope {
    MetricsHub* hub;
    bool machine;
  };

  static const bp_host_metrics_1* Api();
  Scope* experiment() { return &experiment_; }
  Scope* machine() { return &machine_; }

  // Its handle, or BP_E_INVALID_ARG: there are too many, of monitors or of the others. [any]
  int32_t Add(bool machine, const Metric& metric);
  void Record(int32_t handle, double value);  // [any]
  // Of the host's own, which is registered with its first value, or before, where that may come late or never. [control]
  void Record(HostMetricRow metric, double value) { Record(Register(metric), value); }
  int32_t Register(HostMetricRow metric);
  // As Record, of what speaks of the time since it was recorded last. [any]
  void RecordSince(int32_t handle, double value);
  // From now on what monitors record is summed up by what this clock's thread does, too. It outlives the hub's use.
  void Watch(const PhaseClock* control);
  // Of what monitors recorded: by name, the mean in each group of phases.
  std::map<std::string, GroupMeans> ByGroup();
  std::vector<Metric> Registered();  // all, in the order in which they were added
  // Means since the last call, and forgets them. Metrics without a value are left out.
  std::map<std::string, double> Take(bool machine);

 private:
  struct Entry {
    Metric metric;
    bool machine;
    std::optional<GroupMeans> by_group;  // of what a monitor recorded
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string, int32_t> handles_[2];  // by name, those of the experiment and those of the machine
  std::optional<int32_t> of_host_[std::size(kHostMetrics)];
  const PhaseClock* control_ = nullptr;
  Scope experiment_{this, false}, machine_{this, true};
};

}  // namespace backplane
