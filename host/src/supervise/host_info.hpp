// Facts of this machine and this program, for run.json and for `doctor`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/run_info.hpp"

namespace backplane {

HostInfo HostFacts();

// The GPUs that CUDA_VISIBLE_DEVICES leaves to this process.
std::vector<DeviceInfo> DeviceFacts();

// "2.13.0+cpu", from the version file beside the folder of libraries; empty if there is none.
std::string TorchVersionAt(const std::filesystem::path& torch_lib);

inline constexpr const char* kCompiler = __VERSION__;

}  // namespace backplane
