// How long threads were ready to run while no core was free, as the kernel counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace backplane {

// Of a thread since it began. Absent: it is gone, or the kernel does not count. A few us. [any]
std::optional<int64_t> RunQueueWaitNs(pid_t thread, const std::filesystem::path& process = "/proc/self");

}  // namespace backplane
