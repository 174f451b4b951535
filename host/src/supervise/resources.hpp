// Who may use which core and which GPU. Every core belongs to one trial at a time, a GPU to one trial or in shares to several.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "config/experiment.hpp"
#include "supervise/engine.hpp"
#include "supervise/gpus.hpp"
#include "supervise/topology.hpp"

namespace backplane {

struct Machine {
  std::vector<Cpu> cpus;       // that this process may run on
  unsigned granted_cores = 1;  // so many of them at a time: a quota may be less
  std::vector<Gpu> gpus;
};

// Of the GPUs those that this process's own CUDA_VISIBLE_DEVICES leaves.
Machine ThisMachine();

// What the command line asks for.
struct SlotLimits {
  std::optional<unsigned> jobs;  // trials at once, at most
  std::optional<std::vector<unsigned>>
      gpus;  // indices: use only these, one for each trial unless resources.gpus says otherwise
};

class Slots {
 public:
  // Throws std::runtime_error with a sentence that names the devices found if one of limits.gpus is not there.
  Slots(const Machine& machine, const SlotLimits& limits);

  // Throws std::runtime_error with a sentence if a trial with these wishes could never start: to be asked before any does.
  void Require(const ResourceConfig& resources) const;

  // Absent: not now. `resources.cpus` absent means all cores divided by the number of jobs (1 if not given; with limits.gpus,
  // as many as have a device), at least one core. An exclusive trial runs beside nothing.
  std::optional<Grant> Take(const ResourceConfig& resources, bool exclusive);
  void Give(const Grant& grant);

  // What the trial should be told as resources.device_memory: as the file says, else its share of the device's memory; absent
  // if it has whole devices or none.
  std::optional<uint64_t> DeviceMemory(const ResourceConfig& resources, const Grant& grant) const;

  size_t cores() const { return cpus_.size(); }

 private:
  struct Device {
    Gpu gpu;
    double free = 1;
  };

  double GpusWanted(const ResourceConfig& resources) const;
  size_t CoresWanted(const ResourceConfig& resources) const;
  std::optional<std::vector<size_t>> ChooseDevices(double wanted) const;

  SlotLimits limits_;
  std::vector<Cpu> cpus_, free_cpus_;
  std::vector<Device> devices_;
  std::map<int, double> taken_;  // by its first core: share of each of its devices
  bool exclusive_ = false;       // the one that runs is alone
};

}  // namespace backplane
