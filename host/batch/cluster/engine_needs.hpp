// What the trials of a plan ask a cluster for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "batch/resource_pool.hpp"
#include "contract/experiment.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// The largest of each among the plan's trials.
struct EngineNeeds {
  uint64_t cpus = 1;  // auto: one, as nobody here knows what a node has
  double gpus = 0;
  std::optional<uint64_t> memory_bytes;  // absent: one of them has no limit, or none has
  std::optional<double> wall_time_s;     // likewise
  bool exclusive = false;
  size_t trials = 0;
};
EngineNeeds NeedsOf(const Plan& plan);

struct EngineRequest {
  EngineConfig config;
  EngineNeeds needs;
  std::optional<unsigned> jobs;  // --jobs
  std::filesystem::path out, program;
  std::string name;  // of the experiment
};

// Slots for trials in place of a machine's cores and devices: `at_once` trials with these needs find room, and those that need
// less no more of it.
Machine SlotsOf(const EngineNeeds& needs, size_t at_once);

}  // namespace backplane
