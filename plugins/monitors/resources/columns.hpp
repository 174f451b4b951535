// What is sampled, in the order of resources.csv. A NaN stands for what this machine does not tell: an empty cell.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

namespace backplane::resources {

struct Column {
  const char* metric;  // of metrics.jsonl; without "resources/" the column's name
  const char* unit;
  int direction;  // 1 up is better, -1 down, 0 neither
  int decimals;
  const char* doc;
};

inline constexpr Column kColumns[] = {
    {"resources/cpu_system_pct", "%", 0, 2, "time the machine's CPUs were neither idle nor waiting for a disk"},
    {"resources/cpu_cores_used", "cores", 0, 4, "CPU time over wall time, all processes of the trial"},
    {"resources/cpu_quota_pct", "%", 0, 2, "the same, of the CPUs granted by affinity and control group"},
    {"resources/ram_system_pct", "%", 0, 2, "the machine's memory that is not available"},
    {"resources/rss_mb", "MiB", -1, 2, "resident memory of the trial's processes"},
    {"resources/rss_peak_mb", "MiB", -1, 2, "largest resident memory so far"},
    {"resources/memory_limit_pct", "%", -1, 2, "memory of the control group, of the smallest limit; absent without one"},
    {"resources/run_queue_wait_pct", "%", -1, 3, "time threads were ready but had no CPU, over CPU time"},
    {"resources/throttled_periods_pct", "%", -1, 2, "periods of the CPU quota in which it was used up, of all"},
    {"resources/psi_cpu_some_pct", "%", -1, 2, "time in which some process waited for a CPU"},
    {"resources/psi_memory_some_pct", "%", -1, 2, "time in which some process waited for memory"},
    {"resources/psi_io_some_pct", "%", -1, 2, "time in which some process waited for a disk"},
    {"resources/processes", nullptr, 0, 0, "processes of the trial"},
    {"resources/threads", nullptr, 0, 0, "threads of all of them"},
    {"resources/gpu_util_pct", "%", 0, 1, "time in which some kernel ran, mean of the GPUs"},
    {"resources/gpu_memory_pct", "%", -1, 2, "memory of the GPUs that is not free"},
    {"resources/vram_used_mb", "MiB", -1, 1,
     "memory of the GPUs in use by the trial, of whole devices where gpu_whole_device is 1"},
    {"resources/gpu_power_w", "W", -1, 1, "power of the GPUs, sum"},
    {"resources/gpu_temperature_c", "C", -1, 0, "temperature of the hottest GPU"},
    {"resources/gpu_clock_event_bits", nullptr, 0, 0, "why clocks are held down, the driver's bits, of any GPU"},
    {"resources/gpu_throttled_pct", "%", -1, 0, "100 where power or heat held a GPU's clocks down, else 0"},
    {"resources/sm_util_pct", "%", 0, 2, "multiprocessors busy, mean of the GPUs (Hopper and newer)"},
    {"resources/gpu_whole_device", nullptr, 0, 0,
     "1: the trial's process was not found on a GPU, its numbers are of all users"},
};
inline constexpr size_t kColumnCount = std::size(kColumns);

// Places in a row, in the order of the table.
enum ColumnIndex : size_t {
  kCpuSystemPct,
  kCpuCoresUsed,
  kCpuQuotaPct,
  kRamSystemPct,
  kRssMb,
  kRssPeakMb,
  kMemoryLimitPct,
  kRunQueueWaitPct,
  kThrottledPeriodsPct,
  kPsiCpu,
  kPsiMemory,
  kPsiIo,
  kProcesses,
  kThreads,
  kGpuUtilPct,
  kGpuMemoryPct,
  kVramUsedMb,
  kGpuPowerW,
  kGpuTemperatureC,
  kGpuClockEventBits,
  kGpuThrottledPct,
  kSmUtilPct,
  kGpuWholeDevice,
};
static_assert(kGpuWholeDevice + 1 == kColumnCount);

struct Row {
  double time_s = 0;  // since the monitor was made
  unsigned long iteration = 0;
  std::array<double, kColumnCount> values{};
};

}  // namespace backplane::resources
