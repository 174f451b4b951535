// Pressure (PSI): the share of time in which some process stood still because a resource was short.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace backplane {

// The file that tells of `resource` ("cpu", "memory", "io"): that of the process's own group (v2), else the whole machine's.
// Absent where neither can be read.
std::optional<std::filesystem::path> FindPressure(const std::string& resource, const std::filesystem::path& proc = "/proc");

// Seconds in which some process stood still, since the file's group or machine began. The kernel's own means (avg10 and longer)
// would remember what was before the trial.
std::optional<double> ReadSomeStalled(const std::filesystem::path& pressure);

}  // namespace backplane
