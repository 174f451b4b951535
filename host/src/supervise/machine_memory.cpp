#include "supervise/machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/cgroup_path.hpp"

namespace backplane {
namespace {

std::optional<uint64_t> TotalBytes(const std::filesystem::path& meminfo) {
  std::ifstream lines(meminfo);
  std::string key, unit;
  for (uint64_t size_kib = 0; lines >> key >> size_kib; std::getline(lines, unit)) {
    if (key == "MemTotal:") return size_kib * 1024;
  }
  return std::nullopt;
}

// v2 writes "max" where there is no limit, v1 a number that no machine has.
std::optional<uint64_t> LimitOf(const std::filesystem::path& group) {
  for (const char* file : {"memory.max", "memory.limit_in_bytes"}) {
    uint64_t bytes = 0;
    if (std::ifstream(group / file) >> bytes) return bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> MachineMemory(const std::filesystem::path& proc) {
  std::optional<uint64_t> bytes = TotalBytes(proc / "meminfo");
  for (const std::filesystem::path& group : LimitingCgroups("memory", proc / "self")) {
    const std::optional<uint64_t> limit = LimitOf(group);
    if (limit) bytes = std::min(bytes.value_or(*limit), *limit);
  }
  return bytes;
}

}  // namespace backplane
