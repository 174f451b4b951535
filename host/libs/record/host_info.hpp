// Facts of this machine and this program, for run.json and for `doctor`.
#pragma once

#include <vector>

#include "record/run_info.hpp"

namespace backplane {

HostInfo HostFacts();

// The GPUs that CUDA_VISIBLE_DEVICES leaves to this process.
std::vector<DeviceInfo> DeviceFacts();

inline constexpr const char* kCompiler = __VERSION__;

}  // namespace backplane
