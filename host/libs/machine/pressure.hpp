// Pressure stall information (PSI): the share of time in which some process waited for a resource.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace backplane {

// The pressure file of `resource` ("cpu", "memory", "io"): the process's own group's (v2), else the machine's. Absent if
// neither can be read.
std::optional<std::filesystem::path> FindPressure(const std::string& resource, const std::filesystem::path& proc = "/proc");

// Seconds in which some process stalled, since the group's creation or boot. The kernel's averages (avg10 and longer) would
// include time before the trial.
std::optional<double> ReadSomeStalled(const std::filesystem::path& pressure);

}  // namespace backplane
