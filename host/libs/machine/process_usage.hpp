// What a process and all below it take from the machine. Files that are absent or vanish while they are read count as zero.
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
// The text of /proc/PID/stat. The name may hold spaces and ')', so the fields start after the last ')'. False if malformed.
bool ParseStat(const std::string& text, ProcStat* out);

struct TreeUsage {
  double cpu_s = 0;                        // with that of children that were waited for
  std::optional<double> run_queue_wait_s;  // threads were ready and had no CPU; of the living threads. Absent: not counted
  double rss_mb = 0, rss_peak_mb = 0;      // MiB; the sum of each process's own, so that shared pages count in each
  int processes = 0, threads = 0;
};

// Reads the tree again and again.
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

// Time since the thread began in which it was ready to run and no core was free. Absent: the thread is gone, or the kernel does
// not count. Takes a few us. [any]
std::optional<int64_t> RunQueueWaitNs(pid_t thread, const std::filesystem::path& process = "/proc/self");

}  // namespace backplane
