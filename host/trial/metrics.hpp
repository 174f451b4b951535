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
  // Monitors measure the machine, all others the experiment. A record never mixes the two.
  struct Scope {
    MetricsHub* hub;
    bool machine;
  };

  static const bp_host_metrics_1* Api();
  Scope* experiment() { return &experiment_; }
  Scope* machine() { return &machine_; }

  // Returns its handle, or BP_E_INVALID_ARG if there are too many, of monitors or of the others. [any]
  int32_t Add(bool machine, const Metric& metric);
  void Record(int32_t handle, double value);  // [any]
  // Records the host's own metric. Registers it with its first value; call Register before if that may come late or never.
  // [control]
  void Record(HostMetricRow metric, double value) { Record(Register(metric), value); }
  int32_t Register(HostMetricRow metric);
  // Like Record, but the value covers the time since the last one. [any]
  void RecordSince(int32_t handle, double value);
  // From now on, averages monitors' values also by the phase of this clock's thread. The clock outlives the hub's use.
  void Watch(const PhaseClock* control);
  // Monitors' values: by name, the mean in each group of phases.
  std::map<std::string, GroupMeans> ByGroup();
  std::vector<Metric> Registered();  // in the order of Add
  // Returns the means since the last call and resets them. Leaves out metrics without a value.
  std::map<std::string, double> Take(bool machine);

 private:
  struct Entry {
    Metric metric;
    bool machine;
    std::optional<GroupMeans> by_group;  // for a monitor's metric
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string, int32_t> handles_[2];  // by name, of the experiment and of the machine
  std::optional<int32_t> of_host_[std::size(kHostMetrics)];
  const PhaseClock* control_ = nullptr;
  Scope experiment_{this, false}, machine_{this, true};
};

}  // namespace backplane
