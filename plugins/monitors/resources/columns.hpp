// The sampled measures, in the order of resources.csv. NaN, an empty cell, stands for values that this machine does not report.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "machine/resource_measures.hpp"

namespace backplane::resources {

struct Column {
  const char* metric;  // of metrics.jsonl
  const char* unit;
  int direction;  // 1 up is better, -1 down, 0 neither
  int decimals;
  const char* doc;
};

inline constexpr Column kColumns[] = {
    {resource_measure::kCpuSystemPct, "%", 0, 2, "time the machine's CPUs were neither idle nor waiting for a disk"},
    {resource_measure::kCpuCoresUsed, "cores", 0, 4, "CPU time over wall time, all processes of the trial"},
    {resource_measure::kCpuQuotaPct, "%", 0, 2, "the same, as a share of the CPUs granted by affinity and control group"},
    {resource_measure::kRamSystemPct, "%", 0, 2, "the machine's memory that is not available"},
    {resource_measure::kRssMb, "MiB", -1, 2, "resident memory of the trial's processes"},
    {resource_measure::kRssPeakMb, "MiB", -1, 2, "largest resident memory so far"},
    {resource_measure::kMemoryLimitPct, "%", -1, 2, "memory of the control group with the smallest limit; absent without one"},
    {resource_measure::kRunQueueWaitPct, "%", -1, 3, "time threads were ready but had no CPU, over CPU time"},
    {resource_measure::kThrottledPeriodsPct, "%", -1, 2, "share of periods in which the CPU quota was used up"},
    {resource_measure::kPsiCpuSomePct, "%", -1, 2, "time in which some process waited for a CPU"},
    {resource_measure::kPsiMemorySomePct, "%", -1, 2, "time in which some process waited for memory"},
    {resource_measure::kPsiIoSomePct, "%", -1, 2, "time in which some process waited for a disk"},
    {resource_measure::kCpuTemperatureC, "C", -1, 1, "temperature of the hottest CPU sensor"},
    {resource_measure::kCpuFrequencyMhz, "MHz", 0, 0, "frequency of the granted CPUs, mean"},
    {resource_measure::kCpuHeatThrottledPct, "%", -1, 0, "100 if heat lowered a granted CPU's clock, else 0"},
    {resource_measure::kProcesses, nullptr, 0, 0, "processes of the trial"},
    {resource_measure::kThreads, nullptr, 0, 0, "threads of all of them"},
    {resource_measure::kGpuUtilPct, "%", 0, 1, "time in which some kernel ran, mean of the GPUs"},
    {resource_measure::kGpuMemoryPct, "%", -1, 2, "memory of the GPUs that is not free"},
    {resource_measure::kVramUsedMb, "MiB", -1, 1,
     "memory of the GPUs in use by the trial, or of whole devices if gpu_whole_device is 1"},
    {resource_measure::kGpuPowerW, "W", -1, 1, "power of the GPUs, sum"},
    {resource_measure::kGpuTemperatureC, "C", -1, 0, "temperature of the hottest GPU"},
    {resource_measure::kGpuClockEventBits, nullptr, 0, 0, "the driver's bits for the reasons of low clocks, of any GPU"},
    {resource_measure::kGpuThrottledPct, "%", -1, 0, "100 if power or heat lowered a GPU's clocks, else 0"},
    {resource_measure::kGpuPcieSentMbps, "MB/s", 0, 1, "PCIe traffic from the GPUs, sum"},
    {resource_measure::kGpuPcieReceivedMbps, "MB/s", 0, 1, "PCIe traffic to the GPUs, sum"},
    {resource_measure::kGpuPcieReplays, nullptr, -1, 0, "PCIe packets of the GPUs that were sent again during the trial"},
    {resource_measure::kGpuEccCorrected, nullptr, -1, 0, "memory errors of the GPUs that ECC corrected during the trial"},
    {resource_measure::kGpuEccUncorrected, nullptr, -1, 0, "memory errors of the GPUs that ECC could not correct"},
    {resource_measure::kSmUtilPct, "%", 0, 2, "multiprocessors busy, mean of the GPUs (Hopper and newer)"},
    {resource_measure::kGpuWholeDevice, nullptr, 0, 0,
     "1: the trial's process was not found on a GPU, so the numbers cover all users"},
};
inline constexpr size_t kColumnCount = std::size(kColumns);
static_assert(
    [] {
      for (const Column& column : kColumns)
        if (!resource_measure::IsKnown(column.metric)) return false;
      return true;
    }(),
    "reports look for measures by resource_measure::kAll");

// Index of a measure in a row; a measure that is not sampled does not compile.
consteval size_t PlaceOf(std::string_view metric) {
  size_t place = 0;
  while (kColumns[place].metric != metric) ++place;
  return place;
}

struct Row {
  double time_s = 0;  // since the monitor's construction
  unsigned long iteration = 0;
  std::array<double, kColumnCount> values{};
};

}  // namespace backplane::resources
