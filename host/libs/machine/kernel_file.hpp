// Files in which the kernel answers: /proc, /sys, control groups.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// The whole text. Absent if the file cannot be opened or read: files of pressure stand there and refuse to be read where the
// kernel was started without it. A stream would ask three times as many system calls for it.
std::optional<std::string> ReadKernelFile(const std::filesystem::path& file);

// The number a text begins with: "1024\n"; absent for "max\n".
std::optional<uint64_t> NumberIn(std::string_view text);

// The number behind `key` at the beginning of a line, as in "MemTotal:   1024 kB" (key "MemTotal:") and "nr_periods 7".
std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view key);

// The entries of a folder whose names are numbers: processes or threads. Empty if it is gone.
std::vector<int> NumberedEntries(const std::filesystem::path& folder);

}  // namespace backplane
