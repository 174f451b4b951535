// What Linux tells about the processes of a trial. Files that are absent or vanish while they are read count as zero.
#pragma once

#include <cstdint>
#include <string>

namespace backplane::resources {

struct ProcStat {
  int64_t parent = 0;
  double cpu_ticks = 0;  // user and system, with those of children already waited for
};
// The text of /proc/PID/stat. The name may hold spaces and ')', so the fields start after the last ')'. False if malformed.
bool ParseStat(const std::string& text, ProcStat* out);

// Sums over a process and its descendants.
struct TreeUsage {
  double cpu_s = 0, run_queue_wait_s = 0, rss_mb = 0, rss_peak_mb = 0;  // rss_peak_mb: sum of each process's own peak
  int64_t processes = 0;
};
TreeUsage ReadTree(int64_t root_pid, const std::string& proc = "/proc");

// CPUs by affinity and by the smallest cgroup quota (v1 or v2) of the leaf and its ancestors.
double EffectiveCpus();
// The smallest quota / period alone, infinite if there is none. `root` stands before /proc and the mount points, for tests.
double CgroupCpus(const std::string& root = "");

}  // namespace backplane::resources
