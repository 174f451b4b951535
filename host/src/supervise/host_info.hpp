// Facts of this machine and this program, for run.json and for `doctor`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

// {"hostname", "kernel", "cpu", "granted_cores", "memory_bytes"}
nlohmann::json HostFacts();

// [{"name", "memory_bytes"}, ...]: the GPUs that CUDA_VISIBLE_DEVICES leaves to this process.
nlohmann::json DeviceFacts();

// "2.13.0+cpu", from the version file beside the folder of libraries; empty if there is none.
std::string TorchVersionAt(const std::filesystem::path& torch_lib);

inline constexpr const char* kCompiler = __VERSION__;

}  // namespace backplane
