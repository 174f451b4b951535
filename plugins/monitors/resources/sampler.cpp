#include "sampler.hpp"

#include <algorithm>
#include <cmath>

#include "machine/pressure.hpp"

namespace backplane::resources {
namespace {

using namespace resource_measure;

constexpr const char* kPressures[] = {"cpu", "memory", "io"};

// Bits of nvml.h that lower the clocks: software power cap, hardware slowdown, software and hardware thermal, power brake. The
// others (idle, application clocks, sync boost, display) are no fault.
constexpr uint64_t kThrottleBits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

template <class Number>
double OrNaN(const std::optional<Number>& value) {
  return value ? static_cast<double>(*value) : std::nan("");
}

}  // namespace

Sampler::Sampler(const Source& source)
    : proc_(source.proc),
      effective_cpus_(EffectiveCpus(source.proc / "self")),
      quota_group_(SmallestCpuQuota(source.proc / "self").group),
      limited_memory_(LimitedMemory::Find(source.proc)),
      tree_(source.root, source.proc),
      heat_(source.sys, GrantedCpus()),
      gpus_(source.nvml_library, source.visible_gpus, source.root) {
  for (size_t i = 0; i < pressure_.size(); ++i) pressure_[i] = FindPressure(kPressures[i], proc_);
}

std::array<double, kColumnCount> Sampler::Read(int64_t t_ns) {
  Values values;
  values.fill(std::nan(""));
  ReadProcesses(t_ns, &values);
  ReadMachine(&values);
  ReadPressure(t_ns, &values);
  ReadHeat(&values);
  ReadGpus(t_ns, &values);
  last_ns_ = t_ns;
  return values;
}

void Sampler::ReadProcesses(int64_t t_ns, Values* values) {
  const TreeUsage now = tree_.Read();
  // A process between its end and its parent's wait is missing from one reading and returns in the next. Compare with the
  // largest sum so far, or its time would count as used just then.
  const double cpu_s = std::max(0.0, now.cpu_s - cpu_s_), cores = cpu_s / (static_cast<double>(t_ns - last_ns_) * 1e-9);
  // The waiting time of a thread vanishes when it ends.
  const double wait_s = std::max(0.0, now.run_queue_wait_s.value_or(0) - run_queue_wait_s_);
  rss_peak_mb_ = std::max(rss_peak_mb_, now.rss_peak_mb);
  (*values)[PlaceOf(kCpuCoresUsed)] = cores;
  (*values)[PlaceOf(kCpuQuotaPct)] = 100 * cores / effective_cpus_;
  (*values)[PlaceOf(kRssMb)] = now.rss_mb;
  (*values)[PlaceOf(kRssPeakMb)] = rss_peak_mb_;
  (*values)[PlaceOf(kProcesses)] = now.processes;
  (*values)[PlaceOf(kThreads)] = now.threads;
  if (now.run_queue_wait_s && cpu_s > 0) (*values)[PlaceOf(kRunQueueWaitPct)] = 100 * wait_s / cpu_s;
  if (limited_memory_) (*values)[PlaceOf(kMemoryLimitPct)] = OrNaN(limited_memory_->UsedPct());
  cpu_s_ = std::max(cpu_s_, now.cpu_s), run_queue_wait_s_ = now.run_queue_wait_s.value_or(0);
}

void Sampler::ReadMachine(Values* values) {
  const std::optional<CpuTimes> times = ReadCpuTimes(proc_);
  if (times && cpu_times_) (*values)[PlaceOf(kCpuSystemPct)] = OrNaN(BusyPct(*cpu_times_, *times));
  cpu_times_ = times;
  (*values)[PlaceOf(kRamSystemPct)] = OrNaN(MachineMemoryUsedPct(proc_));
  if (quota_group_.empty()) return;
  const std::optional<Throttling> throttling = ReadThrottling(quota_group_);
  if (throttling && throttling_ && throttling->periods > throttling_->periods) {
    (*values)[PlaceOf(kThrottledPeriodsPct)] = 100 * static_cast<double>(throttling->throttled - throttling_->throttled) /
                                               static_cast<double>(throttling->periods - throttling_->periods);
  }
  throttling_ = throttling;
}

void Sampler::ReadPressure(int64_t t_ns, Values* values) {
  const double elapsed_s = static_cast<double>(t_ns - last_ns_) * 1e-9;
  for (size_t i = 0; i < pressure_.size(); ++i) {
    if (!pressure_[i]) continue;
    const std::optional<double> stalled_s = ReadSomeStalled(*pressure_[i]);
    // The file is read slightly after the row's time, so a permanent shortage could exceed 100 %.
    if (stalled_s && stalled_s_[i])
      (*values)[PlaceOf(kPsiCpuSomePct) + i] = std::clamp(100 * (*stalled_s - *stalled_s_[i]) / elapsed_s, 0.0, 100.0);
    stalled_s_[i] = stalled_s;
  }
}

void Sampler::ReadHeat(Values* values) {
  (*values)[PlaceOf(kCpuTemperatureC)] = OrNaN(heat_.TemperatureC());
  (*values)[PlaceOf(kCpuFrequencyMhz)] = OrNaN(heat_.FrequencyMhz());
  const std::optional<uint64_t> throttles = heat_.Throttles();
  if (throttles && heat_throttles_) (*values)[PlaceOf(kCpuHeatThrottledPct)] = *throttles > *heat_throttles_ ? 100 : 0;
  heat_throttles_ = throttles;
}

void Sampler::ReadGpus(int64_t t_ns, Values* values) {
  const GpuReading gpus = gpus_.Read(t_ns);
  (*values)[PlaceOf(kGpuUtilPct)] = OrNaN(gpus.util_pct);
  (*values)[PlaceOf(kGpuMemoryPct)] = OrNaN(gpus.memory_pct);
  (*values)[PlaceOf(kVramUsedMb)] = OrNaN(gpus.vram_used_mb);
  (*values)[PlaceOf(kGpuPowerW)] = OrNaN(gpus.power_w);
  (*values)[PlaceOf(kGpuTemperatureC)] = OrNaN(gpus.temperature_c);
  (*values)[PlaceOf(kGpuClockEventBits)] = OrNaN(gpus.clock_events);
  if (gpus.clock_events) (*values)[PlaceOf(kGpuThrottledPct)] = (*gpus.clock_events & kThrottleBits) != 0 ? 100 : 0;
  (*values)[PlaceOf(kGpuPcieSentMbps)] = OrNaN(gpus.pcie_sent_mbps);
  (*values)[PlaceOf(kGpuPcieReceivedMbps)] = OrNaN(gpus.pcie_received_mbps);
  (*values)[PlaceOf(kGpuPcieReplays)] = OrNaN(gpus.pcie_replays);
  (*values)[PlaceOf(kGpuEccCorrected)] = OrNaN(gpus.ecc_corrected);
  (*values)[PlaceOf(kGpuEccUncorrected)] = OrNaN(gpus.ecc_uncorrected);
  (*values)[PlaceOf(kSmUtilPct)] = OrNaN(gpus.sm_util_pct);
  (*values)[PlaceOf(kGpuWholeDevice)] = OrNaN(gpus.whole_device);
}

}  // namespace backplane::resources
