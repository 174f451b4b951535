// The resources that a plan's trials need from a cluster.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "batch/resource_pool.hpp"
#include "contract/experiment.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// The maximum of each over the plan's trials.
struct EngineNeeds {
  uint64_t cpus = 1;  // auto: 1, because the size of a node is unknown
  double gpus = 0;
  std::optional<uint64_t> memory_bytes;  // absent: some trial has no limit
  std::optional<double> wall_time_s;     // likewise
  bool exclusive = false;
  uint64_t worker_cpus = 0, largest_worker = 0;  // cores of a trial's rollout workers in total, and of the largest one
  size_t trials = 0;
};
EngineNeeds NeedsOf(const Plan& plan);

struct EngineRequest {
  EngineConfig config;
  EngineNeeds needs;
  std::optional<unsigned> jobs;  // --jobs
  std::filesystem::path out, program;
  std::string name;  // the experiment's
};

// Slots instead of a machine's cores and devices. Exactly `at_once` trials fit, even if they need less.
Machine SlotsOf(const EngineNeeds& needs, size_t at_once);

}  // namespace backplane
