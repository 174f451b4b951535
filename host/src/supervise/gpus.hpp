// The NVIDIA GPUs of this machine, asked of the driver's own library (NVML), which is there only where the driver is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace backplane {

struct Gpu {
  unsigned index = 0;  // in the order of the PCI bus
  std::string uuid;    // "GPU-..."
  std::string name;
  uint64_t memory_bytes = 0;
};

// Empty without the library, without a driver, or without a GPU. A device that does not answer is left out.
std::vector<Gpu> FindGpus(const std::string& nvml_library = "libnvidia-ml.so.1");

}  // namespace backplane
