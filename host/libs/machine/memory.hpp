// How much memory there is, who limits it, and how much of it is taken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace backplane {

// Bytes: the machine's memory, or the smallest limit of the control groups (v1 and v2) that hold this process if that is less.
// Absent if the kernel does not tell.
std::optional<uint64_t> MachineMemory(const std::filesystem::path& proc = "/proc");

// Bytes that can be had without swapping and within every control group's limit. Absent if the kernel does not report them.
std::optional<uint64_t> AvailableMemory(const std::filesystem::path& proc = "/proc");

// Memory of the machine that cannot be had without swapping, percent. Absent if the kernel does not tell.
std::optional<double> MachineMemoryUsedPct(const std::filesystem::path& proc = "/proc");

// The memory of the control group that holds this process, against the smallest limit of that group and those above it.
class LimitedMemory {
 public:
  // Absent where no group limits it to less than the machine has, or where the group does not tell what it uses.
  static std::optional<LimitedMemory> Find(const std::filesystem::path& proc = "/proc");

  // Without the files' pages that nobody has used of late: the kernel drops them before it fails. Percent of the limit.
  std::optional<double> UsedPct() const;
  uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  LimitedMemory(std::filesystem::path usage, std::filesystem::path stat, const char* inactive, uint64_t limit_bytes)
      : usage_(std::move(usage)), stat_(std::move(stat)), inactive_(inactive), limit_bytes_(limit_bytes) {}

  std::filesystem::path usage_, stat_;
  const char* inactive_;  // key in stat_
  uint64_t limit_bytes_;
};

}  // namespace backplane
