#include "machine/memory.hpp"

#include <algorithm>
#include <string>

#include "machine/cgroup_path.hpp"
#include "machine/kernel_file.hpp"

namespace backplane {
namespace {

std::optional<uint64_t> TotalBytes(const std::filesystem::path& proc) {
  const auto total_kib = NumberAfter(ReadKernelFile(proc / "meminfo").value_or(""), "MemTotal:");
  return total_kib ? std::optional(*total_kib * 1024) : std::nullopt;
}

// Without a limit, v2 writes "max" and v1 a huge number.
std::optional<uint64_t> LimitOf(const std::filesystem::path& group) {
  for (const char* file : {"memory.max", "memory.limit_in_bytes"}) {
    const auto text = ReadKernelFile(group / file);
    if (const auto bytes = text ? NumberIn(*text) : std::nullopt) return bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> MachineMemory(const std::filesystem::path& proc) {
  std::optional<uint64_t> bytes = TotalBytes(proc);
  for (const std::filesystem::path& group : LimitingCgroups("memory", proc / "self")) {
    const std::optional<uint64_t> limit = LimitOf(group);
    if (limit) bytes = std::min(bytes.value_or(*limit), *limit);
  }
  return bytes;
}

std::optional<uint64_t> AvailableMemory(const std::filesystem::path& proc) {
  const auto kib = NumberAfter(ReadKernelFile(proc / "meminfo").value_or(""), "MemAvailable:");
  std::optional<uint64_t> bytes = kib ? std::optional(*kib * 1024) : std::nullopt;
  const std::optional<LimitedMemory> limited = LimitedMemory::Find(proc);
  const std::optional<double> used_pct = limited ? limited->UsedPct() : std::nullopt;
  if (!used_pct) return bytes;
  const double free = std::max(0.0, 1 - *used_pct / 100) * static_cast<double>(limited->limit_bytes());
  return std::min(bytes.value_or(UINT64_MAX), static_cast<uint64_t>(free));
}

std::optional<double> MachineMemoryUsedPct(const std::filesystem::path& proc) {
  const std::string text = ReadKernelFile(proc / "meminfo").value_or("");
  const auto total = NumberAfter(text, "MemTotal:"), available = NumberAfter(text, "MemAvailable:");
  if (!total || !available || *total == 0) return std::nullopt;
  // In LXC more may be available than there is.
  return 100 * (1 - static_cast<double>(std::min(*available, *total)) / static_cast<double>(*total));
}

std::optional<LimitedMemory> LimitedMemory::Find(const std::filesystem::path& proc) {
  const std::optional<uint64_t> limit = MachineMemory(proc), total = TotalBytes(proc);
  if (!limit || (total && *limit >= *total)) return std::nullopt;
  const auto v2 = FindCgroup("", proc / "self"), v1 = FindCgroup("memory", proc / "self");
  if (v2 && ReadKernelFile(v2->own / "memory.current")) {
    return LimitedMemory(v2->own / "memory.current", v2->own / "memory.stat", "inactive_file", *limit);
  }
  if (v1 && ReadKernelFile(v1->own / "memory.usage_in_bytes")) {
    return LimitedMemory(v1->own / "memory.usage_in_bytes", v1->own / "memory.stat", "total_inactive_file", *limit);
  }
  return std::nullopt;
}

std::optional<double> LimitedMemory::UsedPct() const {
  const auto used = NumberIn(ReadKernelFile(usage_).value_or(""));
  if (!used || limit_bytes_ == 0) return std::nullopt;
  const uint64_t inactive = NumberAfter(ReadKernelFile(stat_).value_or(""), inactive_).value_or(0);
  return 100 * static_cast<double>(*used - std::min(*used, inactive)) / static_cast<double>(limit_bytes_);
}

}  // namespace backplane
