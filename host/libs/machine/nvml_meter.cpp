#include "machine/nvml_meter.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace backplane {
namespace {

constexpr int64_t kApart_ns = 100'000'000;

}  // namespace

Gpm::Gpm(const nvml::Calls& calls, nvml::Device device) : calls_(calls), device_(device) {
  if (!Supported()) return;
  for (nvml::GpmSample* sample : {&before_, &now_}) {
    if (calls_.gpm_alloc(sample) != nvml::kSuccess) *sample = nullptr;
  }
  request_ = std::make_unique<nvml::GpmRequest>();
}

Gpm::~Gpm() {
  for (nvml::GpmSample sample : {before_, now_}) {
    if (sample != nullptr) calls_.gpm_free(sample);
  }
}

bool Gpm::Supported() const {
  nvml::GpmSupport support{.version = nvml::kGpmVersion, .is_supported = 0};
  return calls_.gpm_support && calls_.gpm_alloc && calls_.gpm_free && calls_.gpm_sample && calls_.gpm_metrics &&
         calls_.gpm_support(device_, &support) == nvml::kSuccess && support.is_supported != 0;
}

std::optional<double> Gpm::SmUtilPct(int64_t t_ns) {
  if (before_ == nullptr || now_ == nullptr || (before_ns_ && t_ns - *before_ns_ <= kApart_ns)) return std::nullopt;
  if (!sample_.Ask(calls_.gpm_sample, device_, now_)) return std::nullopt;
  std::optional<double> pct;
  if (before_ns_) {
    *request_ = {.version = nvml::kGpmVersion, .count = 1, .first = before_, .second = now_, .metrics = {}};
    request_->metrics[0].id = nvml::kGpmSmUtil;
    if (metrics_.Ask(calls_.gpm_metrics, request_.get()) && request_->metrics[0].status == nvml::kSuccess) {
      pct = request_->metrics[0].value;
    }
  }
  std::swap(before_, now_);
  before_ns_ = t_ns;
  return pct;
}

namespace {

constexpr double kMiB = 1 << 20;
constexpr unsigned kSpareProcesses = 8;  // for processes that start between the two queries

class Mean {
 public:
  void Add(std::optional<double> value) {
    if (value) sum_ += *value, ++n_;
  }
  std::optional<double> value() const { return n_ > 0 ? std::optional(sum_ / n_) : std::nullopt; }

 private:
  double sum_ = 0;
  int n_ = 0;
};

}  // namespace

NvmlMeter::NvmlMeter(const std::string& library, const std::optional<std::string>& visible_devices, pid_t own)
    : own_(own), library_(library) {
  for (const Gpu& gpu : VisibleGpus(FindGpus(library_), visible_devices)) {
    nvml::Device device = nullptr;
    if (library_.calls().by_index(gpu.index, &device) == nvml::kSuccess) devices_.emplace_back(library_.calls(), device);
  }
}

GpuReading NvmlMeter::Read(int64_t t_ns) {
  const nvml::Calls& calls = library_.calls();
  GpuReading reading;
  Mean utilization, sm_utilization;
  for (Device& device : devices_) {
    nvml::Utilization rates{};
    if (device.utilization.Ask(calls.utilization, device.handle, &rates)) utilization.Add(rates.gpu);
    unsigned milliwatts = 0, celsius = 0;
    if (device.power.Ask(calls.power, device.handle, &milliwatts)) {
      reading.power_w = reading.power_w.value_or(0) + milliwatts * 1e-3;
    }
    constexpr int kOfTheChip = 0;
    if (device.temperature.Ask(calls.temperature, device.handle, kOfTheChip, &celsius)) {
      reading.temperature_c = std::max<double>(reading.temperature_c.value_or(0), celsius);
    }
    unsigned long long bits = 0;
    if (device.clock_events.Ask(calls.clock_event_bits, device.handle, &bits)) {
      reading.clock_events = reading.clock_events.value_or(0) | bits;
    }
    sm_utilization.Add(device.gpm.SmUtilPct(t_ns));
  }
  reading.util_pct = utilization.value();
  reading.sm_util_pct = sm_utilization.value();
  AddPcie(t_ns, &reading);
  AddErrors(&reading);
  AddMemory(&reading);
  return reading;
}

// At most once a second, because each of the two queries waits for 20 ms.
void NvmlMeter::AddPcie(int64_t t_ns, GpuReading* reading) {
  constexpr int64_t kPcieEvery_ns = 1'000'000'000;
  if (pcie_ns_ && t_ns - *pcie_ns_ < kPcieEvery_ns) return;
  pcie_ns_ = t_ns;
  for (Device& device : devices_) {
    for (const auto& [counter, sum] :
         {std::pair{nvml::kPcieSent, &reading->pcie_sent_mbps}, {nvml::kPcieReceived, &reading->pcie_received_mbps}}) {
      unsigned kb_per_s = 0;
      if (device.pcie.Ask(library_.calls().pcie, device.handle, int{counter}, &kb_per_s))
        *sum = sum->value_or(0) + kb_per_s * 1e-3;
    }
  }
}

void NvmlMeter::AddErrors(GpuReading* reading) {
  for (Device& device : devices_) {
    const auto add = [](uint64_t errors, std::optional<uint64_t>* first, std::optional<double>* sum) {
      if (!*first || errors < **first) *first = errors;  // a reset driver counts from 0
      *sum = sum->value_or(0) + static_cast<double>(errors - **first);
    };
    const auto add_ecc = [&](nvml::EccType type, std::optional<uint64_t>* first, std::optional<double>* sum) {
      unsigned long long errors = 0;
      if (device.ecc.Ask(library_.calls().ecc, device.handle, int{type}, nvml::kEccSinceBoot, &errors)) add(errors, first, sum);
    };
    add_ecc(nvml::kEccCorrected, &device.corrected, &reading->ecc_corrected);
    add_ecc(nvml::kEccUncorrected, &device.uncorrected, &reading->ecc_uncorrected);
    unsigned replays = 0;
    if (device.pcie_replays.Ask(library_.calls().pcie_replays, device.handle, &replays))
      add(replays, &device.replays, &reading->pcie_replays);
  }
}

void NvmlMeter::AddMemory(GpuReading* reading) {
  double total_mb = 0, taken_mb = 0;
  for (Device& device : devices_) {
    const std::optional<Memory> memory = ReadMemory(device);
    const std::optional<double> own_mb = ReadOwn(device);
    reading->whole_device = reading->whole_device.value_or(false) || !own_mb;
    if (!memory) continue;
    total_mb += memory->total_mb, taken_mb += memory->taken_mb;
    reading->vram_used_mb = reading->vram_used_mb.value_or(0) + own_mb.value_or(memory->taken_mb);
  }
  if (total_mb > 0) reading->memory_pct = 100 * taken_mb / total_mb;
}

std::optional<NvmlMeter::Memory> NvmlMeter::ReadMemory(Device& device) const {
  const nvml::Calls& calls = library_.calls();
  // Not `used`: it may include the driver's share, depending on the version, and nvml.h contradicts itself about it.
  nvml::MemoryV2 v2{.version = nvml::kMemoryV2};
  if (device.memory_v2.Ask(calls.memory_v2, device.handle, &v2)) return Memory{v2.total / kMiB, (v2.total - v2.free) / kMiB};
  nvml::MemoryV1 v1{};
  if (device.memory_v1.Ask(calls.memory_v1, device.handle, &v1)) return Memory{v1.total / kMiB, (v1.total - v1.free) / kMiB};
  return std::nullopt;
}

template <class Process>
bool NvmlMeter::FindOwn(nvml::Device handle, int (*call)(nvml::Device, unsigned*, Process*), nvml::Question* question,
                        std::optional<double>* own_mb) const {
  // If the list is too short, the call fails and returns the required length.
  std::vector<Process> processes(kSpareProcesses);
  auto count = static_cast<unsigned>(processes.size());
  bool answered = question->Ask(call, handle, &count, processes.data());
  if (!answered && count > processes.size()) {
    processes.resize(count + kSpareProcesses);
    count = static_cast<unsigned>(processes.size());
    answered = question->Ask(call, handle, &count, processes.data());
  }
  if (!answered) return false;
  for (unsigned i = 0; i < count; ++i) {
    if (processes[i].pid == static_cast<unsigned>(own_) && processes[i].used_memory != nvml::kMemoryNotTold) {
      *own_mb = own_mb->value_or(0) + static_cast<double>(processes[i].used_memory) / kMiB;
    }
  }
  return true;
}

std::optional<double> NvmlMeter::ReadOwn(Device& device) const {
  std::optional<double> own_mb;
  if (!FindOwn(device.handle, library_.calls().processes_v2, &device.processes_v2, &own_mb)) {
    FindOwn(device.handle, library_.calls().processes_v1, &device.processes_v1, &own_mb);
  }
  return own_mb;
}

}  // namespace backplane
