// Names of the sampled resource measures, shared by their source (the monitor `resources` by default) and the reports and
// findings that use them.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace backplane::resource_measure {

inline constexpr char kPrefix[] = "resources/";
// The name of its column in resources.csv.
constexpr const char* ColumnOf(const char* measure) { return measure + sizeof kPrefix - 1; }

inline constexpr char kCpuSystemPct[] = "resources/cpu_system_pct";
inline constexpr char kCpuCoresUsed[] = "resources/cpu_cores_used";
inline constexpr char kCpuQuotaPct[] = "resources/cpu_quota_pct";
inline constexpr char kRamSystemPct[] = "resources/ram_system_pct";
inline constexpr char kRssMb[] = "resources/rss_mb";
inline constexpr char kRssPeakMb[] = "resources/rss_peak_mb";
inline constexpr char kMemoryLimitPct[] = "resources/memory_limit_pct";
inline constexpr char kRunQueueWaitPct[] = "resources/run_queue_wait_pct";
inline constexpr char kThrottledPeriodsPct[] = "resources/throttled_periods_pct";
inline constexpr char kPsiCpuSomePct[] = "resources/psi_cpu_some_pct";
inline constexpr char kPsiMemorySomePct[] = "resources/psi_memory_some_pct";
inline constexpr char kPsiIoSomePct[] = "resources/psi_io_some_pct";
inline constexpr char kCpuTemperatureC[] = "resources/cpu_temperature_c";
inline constexpr char kCpuFrequencyMhz[] = "resources/cpu_frequency_mhz";
inline constexpr char kCpuHeatThrottledPct[] = "resources/cpu_heat_throttled_pct";
inline constexpr char kProcesses[] = "resources/processes";
inline constexpr char kThreads[] = "resources/threads";
inline constexpr char kGpuUtilPct[] = "resources/gpu_util_pct";
inline constexpr char kGpuMemoryPct[] = "resources/gpu_memory_pct";
inline constexpr char kVramUsedMb[] = "resources/vram_used_mb";
inline constexpr char kGpuPowerW[] = "resources/gpu_power_w";
inline constexpr char kGpuTemperatureC[] = "resources/gpu_temperature_c";
inline constexpr char kGpuClockEventBits[] = "resources/gpu_clock_event_bits";
inline constexpr char kGpuThrottledPct[] = "resources/gpu_throttled_pct";
inline constexpr char kGpuPcieSentMbps[] = "resources/gpu_pcie_sent_mbps";
inline constexpr char kGpuPcieReceivedMbps[] = "resources/gpu_pcie_received_mbps";
inline constexpr char kGpuPcieReplays[] = "resources/gpu_pcie_replays";
inline constexpr char kGpuEccCorrected[] = "resources/gpu_ecc_corrected";
inline constexpr char kGpuEccUncorrected[] = "resources/gpu_ecc_uncorrected";
inline constexpr char kSmUtilPct[] = "resources/sm_util_pct";
inline constexpr char kGpuWholeDevice[] = "resources/gpu_whole_device";

inline constexpr std::string_view kAll[] = {
    kCpuSystemPct,        kCpuCoresUsed,    kCpuQuotaPct,       kRamSystemPct,        kRssMb,
    kRssPeakMb,           kMemoryLimitPct,  kRunQueueWaitPct,   kThrottledPeriodsPct, kPsiCpuSomePct,
    kPsiMemorySomePct,    kPsiIoSomePct,    kCpuTemperatureC,   kCpuFrequencyMhz,     kCpuHeatThrottledPct,
    kProcesses,           kThreads,         kGpuUtilPct,        kGpuMemoryPct,        kVramUsedMb,
    kGpuPowerW,           kGpuTemperatureC, kGpuClockEventBits, kGpuThrottledPct,     kGpuPcieSentMbps,
    kGpuPcieReceivedMbps, kGpuPcieReplays,  kGpuEccCorrected,   kGpuEccUncorrected,   kSmUtilPct,
    kGpuWholeDevice};

constexpr bool IsKnown(std::string_view measure) {
  return std::find(std::begin(kAll), std::end(kAll), measure) != std::end(kAll);
}

// Target use of a granted GPU in percent, set by this project. Memory is never needed in full, so its peak counts.
inline constexpr double kGpuUseTargetPct = 90, kGpuMemoryTargetPct = 80;
constexpr std::optional<double> TargetOf(std::string_view measure) {
  if (measure == kGpuUtilPct) return kGpuUseTargetPct;
  if (measure == kGpuMemoryPct) return kGpuMemoryTargetPct;
  return std::nullopt;
}
// Shown live if a GPU is granted. Power is included because a busy device that draws little does little work.
inline constexpr std::string_view kLiveOfGpu[] = {kGpuUtilPct, kGpuMemoryPct, kGpuPowerW};

// True if the measure needs a GPU, including the host's own measures ("vram_peak_mb").
inline bool IsOfGpu(std::string_view measure) {
  return measure.find("gpu_") != measure.npos || measure.find("vram_") != measure.npos ||
         measure.find("_gpu") != measure.npos || measure == kSmUtilPct;
}

}  // namespace backplane::resource_measure
