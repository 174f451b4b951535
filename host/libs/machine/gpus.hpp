// The NVIDIA GPUs of this machine, asked of the driver's own library (nvml.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/nvml.hpp"

namespace backplane {

struct Gpu {
  unsigned index = 0;  // in the order of the PCI bus
  std::string uuid;    // "GPU-..."
  std::string name;
  uint64_t memory_bytes = 0;
};

// Empty without the library, without a driver, or without a GPU. A device that does not answer is left out.
std::vector<Gpu> FindGpus(const std::string& nvml_library = nvml::kLibrary);
std::vector<Gpu> FindGpus(const nvml::Library& library);

// The GPUs that this process may use according to its CUDA_VISIBLE_DEVICES, in its order; without it, all. Parsed like in CUDA:
// numbers, UUIDs or unambiguous prefixes of them. The list ends before the first invalid entry, so "" and "-1" leave none.
// Numbers are in PCI bus order, as with CUDA_DEVICE_ORDER=PCI_BUS_ID; MIG partitions are not supported.
std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& gpus, const std::optional<std::string>& visible_devices);
// The GPUs that this process may use.
std::vector<Gpu> OwnGpus();

}  // namespace backplane
