// Numbers that plugins and the host record during an iteration, by name, averaged when the iteration ends.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "backplane/host.h"

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

  int32_t Add(bool machine, const Metric& metric);
  void Record(int32_t handle, double value);  // [any]
  // Means since the last call, and forgets them. Metrics without a value are left out.
  std::map<std::string, double> Take(bool machine);

 private:
  struct Entry {
    Metric metric;
    bool machine;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
  Scope experiment_{this, false}, machine_{this, true};
};

}  // namespace backplane
