// Grants cores, GPUs and memory to trials. Every core belongs to one trial at a time, a GPU to one trial or in shares to
// several. Memory counts only for trials with a limit.
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
  std::vector<Cpu> cpus;       // that this process may run on
  unsigned granted_cores = 1;  // so many of them at a time: a quota may be less
  std::vector<Gpu> gpus;
  std::optional<uint64_t> memory_bytes = {};  // for all trials together; absent: not known, and not counted
};

// Of the GPUs those that this process's own CUDA_VISIBLE_DEVICES leaves.
Machine ThisMachine();

// What the command line asks for.
struct ResourceLimits {
  std::optional<unsigned> jobs;  // trials at once, at most
  std::optional<std::vector<unsigned>>
      gpus;  // indices: use only these, one for each trial unless resources.gpus says otherwise
};

// What these limits change about an experiment, for PlanOptions::defaults: with `gpus` a trial asks for one device. It has to
// be known when the plan is made, because the kind of device belongs to a trial's identity.
KeyDefaults DefaultsUnder(const ResourceLimits& limits);

class ResourcePool {
 public:
  // Throws std::runtime_error with a sentence that names the devices found if one of limits.gpus is not there.
  ResourcePool(const Machine& machine, const ResourceLimits& limits);

  // Throws std::runtime_error with a sentence if a trial with these wishes could never start: to be asked before any does.
  void Require(const ResourceConfig& resources) const;

  // Sentences for the user about wishes that can be met and may not be meant: more threads than cores, no device under --gpus.
  // Empty most of the time; trials that are alike give the same sentences.
  std::vector<std::string> Notes(const ResourceConfig& resources, const RolloutConfig& rollout) const;

  // Absent: not now. `resources.cpus` absent means all cores divided by the number of jobs (1 if not given; with limits.gpus,
  // as many as have a device), at least one core. An exclusive trial without a whole device of its own runs beside nothing.
  std::optional<Allocation> Take(const ResourceConfig& resources, bool exclusive);
  void Give(const Allocation& allocation);

  // What the trial should be told as resources.device_memory: as the file says, else its share of the device's memory; absent
  // if it has whole devices or none.
  std::optional<uint64_t> DeviceMemory(const ResourceConfig& resources, const Allocation& allocation) const;

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
  std::map<int, double> taken_;                               // by its first core: share of each of its devices
  bool exclusive_ = false;                                    // the one that runs is alone
};

}  // namespace backplane
