// Grants cores, GPUs and memory to trials. Every core belongs to one trial at a time, a GPU to one trial or in shares to
// several. Only trials with a limit count their memory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "batch/engine.hpp"
#include "batch/topology.hpp"
#include "config/loader.hpp"
#include "contract/experiment.hpp"
#include "machine/gpus.hpp"

namespace backplane {

struct Machine {
  std::vector<Cpu> cpus;       // those that this process may use
  unsigned granted_cores = 1;  // usable at the same time; a quota may allow fewer
  std::vector<Gpu> gpus;
  std::optional<uint64_t> memory_bytes = {};  // for all trials in total; absent: unknown, and not counted
};

// Only the GPUs that this process's own CUDA_VISIBLE_DEVICES lists.
Machine ThisMachine();

// Resource limits from the command line.
struct ResourceLimits {
  std::optional<unsigned> jobs;               // maximum number of parallel trials
  std::optional<std::vector<unsigned>> gpus;  // indices: use only these; by default one per trial (see resources.gpus)
};

// Defaults for PlanOptions::defaults: with `gpus` a trial requests one device. They must be known when the plan is made,
// because the kind of device is part of a trial's identity.
KeyDefaults DefaultsUnder(const ResourceLimits& limits);

class ResourcePool {
 public:
  // Throws std::runtime_error with a sentence that lists the devices found if one of limits.gpus is missing.
  ResourcePool(const Machine& machine, const ResourceLimits& limits);

  // Throws std::runtime_error with a sentence if a trial with these wishes could never start. Call it before the first trial.
  void Require(const ResourceConfig& resources) const;

  // Sentences about wishes that are possible but may be mistakes: more threads than cores, no device under --gpus. Similar
  // trials yield equal sentences.
  std::vector<std::string> Notes(const ResourceConfig& resources, const RolloutConfig& rollout) const;

  // Absent: no room now. Without `resources.cpus`, the trial gets all cores divided by the number of jobs (default 1; with
  // limits.gpus, the number of trials with a device), at least one core. An exclusive trial without a whole device runs alone.
  std::optional<Allocation> Take(const ResourceConfig& resources, bool exclusive);
  void Give(const Allocation& allocation);

  // The trial's resources.device_memory: the value in the file, otherwise its share of the device's memory. Absent if it has
  // whole devices or none.
  std::optional<DeviceMemory> MemoryOfDevice(const ResourceConfig& resources, const Allocation& allocation) const;

  size_t cores() const { return cpus_.size(); }

 private:
  struct Device {
    Gpu gpu;
    double free = 1;
  };

  size_t CoresWanted(const ResourceConfig& resources) const;
  std::optional<std::vector<size_t>> ChooseDevices(double wanted) const;

  ResourceLimits limits_;
  std::vector<Cpu> cpus_, free_cpus_;
  std::vector<Device> devices_;
  std::optional<uint64_t> memory_bytes_, free_memory_bytes_;  // absent: not counted
  std::map<int, double> taken_;                               // by first core: the share of each of its devices
  bool exclusive_ = false;                                    // the running trial is exclusive
};

}  // namespace backplane
