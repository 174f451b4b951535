// Resource use of a process and its descendants. Files that are missing or vanish during reading count as zero.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct ProcStat {
  pid_t parent = 0;
  double own_ticks = 0;       // user and system
  double children_ticks = 0;  // of children already waited for
};
// Parses /proc/PID/stat. The name may contain spaces and ')', so the fields start after the last ')'. False if malformed.
bool ParseStat(const std::string& text, ProcStat* out);

struct TreeUsage {
  double cpu_s = 0;                        // including children that were waited for
  std::optional<double> run_queue_wait_s;  // time that living threads waited for a CPU. Absent: not counted
  double rss_mb = 0, rss_peak_mb = 0;      // MiB; sums over processes, so shared pages count in each
  int processes = 0, threads = 0;
};

// Reads the tree repeatedly.
class TreeReader {
 public:
  explicit TreeReader(pid_t root, std::filesystem::path proc = "/proc");
  TreeUsage Read();

 private:
  const std::vector<pid_t>& Below();

  pid_t root_;
  std::filesystem::path proc_;
  bool lists_children_;
  std::vector<pid_t> below_;
  std::chrono::steady_clock::time_point look_again_{};
};

// Time since the thread's start in which it was ready but no core was free. Absent if the thread is gone or the kernel does not
// count it. A call needs a few us. [any]
std::optional<int64_t> RunQueueWaitNs(pid_t thread, const std::filesystem::path& process = "/proc/self");

}  // namespace backplane
