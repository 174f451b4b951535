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

// Those that this process may use by the value of its own CUDA_VISIBLE_DEVICES, in its order; without one, all. Read as CUDA
// reads it: numbers, UUIDs or beginnings that only one UUID has; the list ends before the first entry that names no device, so
// that "" and "-1" leave none. Numbers count in the order of the PCI bus, as under CUDA_DEVICE_ORDER=PCI_BUS_ID; a part of a
// device (MIG) is named by none of them.
std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& gpus, const std::optional<std::string>& visible_devices);
// The GPUs that this process may use.
std::vector<Gpu> OwnGpus();

}  // namespace backplane
