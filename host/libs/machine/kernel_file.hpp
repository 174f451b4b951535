// Readers for kernel files: /proc, /sys, control groups.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// The whole text. Absent if the file cannot be opened or read; pressure files exist but are unreadable if the kernel started
// without PSI. Avoids streams, which need three times as many system calls.
std::optional<std::string> ReadKernelFile(const std::filesystem::path& file);

// The number at the start of a text: "1024\n"; absent for "max\n".
std::optional<uint64_t> NumberIn(std::string_view text);

// The number after `key` at the start of a line: "MemTotal:   1024 kB" (key "MemTotal:"), "nr_periods 7".
std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view key);

// The numeric names in a folder: processes or threads. Empty if the folder is gone.
std::vector<int> NumberedEntries(const std::filesystem::path& folder);

}  // namespace backplane
