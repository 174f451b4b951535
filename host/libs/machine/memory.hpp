// Memory of the machine and its control groups: size, limits and use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace backplane {

// Bytes: the machine's memory, or the smallest limit of the control groups (v1 and v2) that contain this process. Absent if the
// kernel does not report it.
std::optional<uint64_t> MachineMemory(const std::filesystem::path& proc = "/proc");

// Bytes available without swapping and within all control groups' limits. Absent if the kernel does not report them.
std::optional<uint64_t> AvailableMemory(const std::filesystem::path& proc = "/proc");

// Percent of the machine's memory that is unavailable without swapping. Absent if the kernel does not report it.
std::optional<double> MachineMemoryUsedPct(const std::filesystem::path& proc = "/proc");

// Memory use of this process's control group relative to the smallest limit of the group and its ancestors.
class LimitedMemory {
 public:
  // Absent if no group limits memory below the machine's size, or if the group does not report its use.
  static std::optional<LimitedMemory> Find(const std::filesystem::path& proc = "/proc");

  // Percent of the limit, without inactive file pages, which the kernel reclaims before an allocation fails.
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
