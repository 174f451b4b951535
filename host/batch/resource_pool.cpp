#include "batch/resource_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "machine/cpu.hpp"
#include "machine/memory.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

constexpr double kGiB = 1 << 30;
constexpr double kRounding = 1e-9;  // ten shares of 0.1 are one device

std::string Found(const std::vector<Gpu>& gpus) {
  std::string text;
  for (const Gpu& gpu : gpus) {
    text += fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", gpu.index, gpu.name, gpu.uuid);
  }
  return text.empty() ? "none found, or hidden by CUDA_VISIBLE_DEVICES" : "found: " + text;
}

std::vector<Cpu> Select(const std::vector<Cpu>& cpus, const std::vector<int>& numbers, bool selected) {
  std::vector<Cpu> result;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(result), [&](const Cpu& cpu) {
    return (std::find(numbers.begin(), numbers.end(), cpu.number) != numbers.end()) == selected;
  });
  return result;
}

// The share of each device: less than 1, or whole devices.
double ShareOfEach(double wanted) { return std::min(wanted, 1.0); }

}  // namespace

Machine ThisMachine() {
  // Schedulers set this variable to our devices. A trial's own value is set from its allocation.
  return {ReadTopology(GrantedCpus()), GrantedCores(), OwnGpus(), MachineMemory()};
}

KeyDefaults DefaultsUnder(const ResourceLimits& limits) {
  return limits.gpus ? KeyDefaults{{"resources.gpus", 1.0}} : KeyDefaults{};
}

ResourcePool::ResourcePool(const Machine& machine, const ResourceLimits& limits)
    : limits_(limits),
      cpus_(Select(machine.cpus, ChooseCores(machine.cpus, machine.cpus, machine.granted_cores), true)),
      free_cpus_(cpus_),
      memory_bytes_(machine.memory_bytes),
      free_memory_bytes_(machine.memory_bytes) {
  if (!limits.gpus) {
    for (const Gpu& gpu : machine.gpus) {
      devices_.push_back({gpu});
    }
    return;
  }
  for (const unsigned index : *limits.gpus) {
    const auto gpu = std::find_if(machine.gpus.begin(), machine.gpus.end(), [&](const Gpu& g) { return g.index == index; });
    if (gpu == machine.gpus.end()) {
      throw std::runtime_error(fmt::format("--gpus: there is no GPU {}; {}", index, Found(machine.gpus)));
    }
    if (std::count(limits.gpus->begin(), limits.gpus->end(), index) > 1) {
      throw std::runtime_error(fmt::format(
          "--gpus: expected each GPU once, got {} twice\nhint: to share a GPU between trials, set resources.gpus: 0.5", index));
    }
    devices_.push_back({*gpu});
  }
}

size_t ResourcePool::CoresWanted(const ResourceConfig& resources) const {
  if (resources.cpus) {
    return *resources.cpus;
  }
  if (resources.exclusive) {
    return cpus_.size();  // it runs alone and shares no cores
  }
  size_t jobs = limits_.jobs.value_or(1);
  if (limits_.gpus && resources.gpus > 0) {
    const auto on_devices = static_cast<size_t>(static_cast<double>(devices_.size()) / resources.gpus + kRounding);
    jobs = limits_.jobs ? std::min(jobs, on_devices) : on_devices;
  }
  return std::max<size_t>(1, cpus_.size() / std::max<size_t>(1, jobs));
}

void ResourcePool::Require(const ResourceConfig& resources) const {
  if (CoresWanted(resources) > cpus_.size()) {
    throw std::runtime_error(
        fmt::format("resources.cpus: a trial needs {} cores, but this machine grants {} (affinity and control group)",
                    CoresWanted(resources), cpus_.size()));
  }
  if (memory_bytes_ && resources.memory_bytes.value_or(0) > *memory_bytes_) {
    throw std::runtime_error(
        fmt::format("resources.memory: a trial needs {}, but this machine grants {:.1f} GiB (machine and control group)",
                    FormatSize(*resources.memory_bytes), static_cast<double>(*memory_bytes_) / kGiB));
  }
  const double wanted = resources.gpus;
  if (wanted > 1 && wanted != std::floor(wanted)) {
    throw std::runtime_error(fmt::format("resources.gpus: expected a share of one GPU or a whole number, got {}", wanted));
  }
  if (wanted > static_cast<double>(devices_.size())) {
    std::vector<Gpu> gpus;
    for (const Device& device : devices_) {
      gpus.push_back(device.gpu);
    }
    throw std::runtime_error(fmt::format("resources.gpus: a trial needs {}; {}", wanted, Found(gpus)));
  }
}

std::vector<std::string> ResourcePool::Notes(const ResourceConfig& resources, const RolloutConfig& rollout) const {
  std::vector<std::string> notes;
  const size_t cores = CoresWanted(resources);
  if (rollout.threads.value_or(0) > cores) {
    notes.push_back(fmt::format("rollout.threads {} exceeds the {} {} granted to a trial", *rollout.threads, cores,
                                cores == 1 ? "core" : "cores"));
  }
  if (limits_.jobs.value_or(1) > 1 && resources.exclusive && resources.gpus < 1) {
    notes.push_back(
        "these trials run one at a time despite --jobs, because of resources.exclusive or a report that compares times");
  }
  if (limits_.gpus && resources.gpus == 0) {
    notes.push_back("--gpus has no effect on trials with resources.gpus 0");
  }
  return notes;
}

// Shares fill the fullest device with room, so that others stay whole.
std::optional<std::vector<size_t>> ResourcePool::ChooseDevices(double wanted) const {
  const auto count = static_cast<size_t>(std::ceil(wanted));
  std::vector<size_t> order;
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].free + kRounding >= ShareOfEach(wanted)) {
      order.push_back(i);
    }
  }
  if (order.size() < count) {
    return std::nullopt;
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return devices_[a].free < devices_[b].free; });
  order.resize(count);
  return order;
}

std::optional<Allocation> ResourcePool::Take(const ResourceConfig& resources, bool exclusive) {
  // A whole device is exclusive already.
  exclusive &= resources.gpus < 1;
  const bool full = limits_.jobs && taken_.size() >= *limits_.jobs;
  if (full || exclusive_ || (exclusive && !taken_.empty()) || free_cpus_.size() < CoresWanted(resources)) {
    return std::nullopt;
  }
  if (free_memory_bytes_ && resources.memory_bytes.value_or(0) > *free_memory_bytes_) {
    return std::nullopt;
  }
  const double wanted = resources.gpus;
  const auto devices = ChooseDevices(wanted);
  if (!devices) {
    return std::nullopt;
  }
  Allocation allocation;
  allocation.cores = ChooseCores(cpus_, free_cpus_, CoresWanted(resources));
  allocation.memory_bytes = resources.memory_bytes;
  allocation.gpu_share = wanted;
  for (const size_t i : *devices) {
    devices_[i].free -= ShareOfEach(wanted);
    allocation.gpus.push_back(devices_[i].gpu.uuid);
  }
  if (free_memory_bytes_) {
    *free_memory_bytes_ -= allocation.memory_bytes.value_or(0);
  }
  free_cpus_ = Select(free_cpus_, allocation.cores, false);
  taken_[allocation.cores.front()] = ShareOfEach(wanted);
  exclusive_ = exclusive;
  return allocation;
}

void ResourcePool::Give(const Allocation& allocation) {
  const auto taken = taken_.find(allocation.cores.front());
  for (Device& device : devices_) {
    if (std::find(allocation.gpus.begin(), allocation.gpus.end(), device.gpu.uuid) != allocation.gpus.end()) {
      device.free += taken->second;
    }
  }
  const std::vector<Cpu> returned = Select(cpus_, allocation.cores, true);
  free_cpus_.insert(free_cpus_.end(), returned.begin(), returned.end());
  if (free_memory_bytes_) {
    *free_memory_bytes_ += allocation.memory_bytes.value_or(0);
  }
  taken_.erase(taken);
  exclusive_ = false;
}

std::optional<DeviceMemory> ResourcePool::MemoryOfDevice(const ResourceConfig& resources, const Allocation& allocation) const {
  const double share = ShareOfEach(resources.gpus);
  if (resources.device_memory || allocation.gpus.empty() || share >= 1) {
    return resources.device_memory;
  }
  const auto device = std::find_if(devices_.begin(), devices_.end(),
                                   [&](const Device& candidate) { return candidate.gpu.uuid == allocation.gpus.front(); });
  if (device->gpu.memory_bytes == 0) return std::nullopt;  // on a node: its size is unknown here
  return DeviceMemory{static_cast<uint64_t>(share * static_cast<double>(device->gpu.memory_bytes))};
}

}  // namespace backplane
