// Samples the GPUs of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "machine/gpus.hpp"
#include "machine/nvml.hpp"

namespace backplane {

// Load of a GPU's multiprocessors from its performance counters (GPM, Hopper and newer). The driver's utilisation only shows
// that some kernel ran.
class Gpm {
 public:
  // `calls` must outlive it. Does nothing on a device without such counters.
  Gpm(const nvml::Calls& calls, nvml::Device device);
  ~Gpm();
  Gpm(const Gpm&) = delete;
  Gpm& operator=(const Gpm&) = delete;

  // Percent, since the last reading, which must be more than 0.1 s ago.
  std::optional<double> SmUtilPct(int64_t t_ns);

 private:
  bool Supported() const;

  const nvml::Calls& calls_;
  nvml::Device device_;
  nvml::GpmSample before_ = nullptr, now_ = nullptr;
  nvml::Question sample_, metrics_;
  std::optional<int64_t> before_ns_;
  std::unique_ptr<nvml::GpmRequest> request_;
};

// Totals over all devices; absent if no device reports the value.
struct GpuReading {
  std::optional<double> util_pct;        // mean over devices: time in which a kernel ran
  std::optional<double> memory_pct;      // used memory of all devices
  std::optional<double> vram_used_mb;    // MiB, sum: this process's memory, or all used memory if whole_device
  std::optional<double> power_w;         // sum
  std::optional<double> temperature_c;   // the hottest
  std::optional<uint64_t> clock_events;  // any device: reasons for reduced clocks, as bits of the driver
  std::optional<double> sm_util_pct;     // mean
  // MB/s (10^6 bytes), sum: from the device, to the device. Absent in readings less than a second after the last value.
  std::optional<double> pcie_sent_mbps, pcie_received_mbps;
  // Errors since the meter's first reading, sum; devices without ECC report none. A replay is a PCIe packet sent again.
  std::optional<double> ecc_corrected, ecc_uncorrected, pcie_replays;
  std::optional<bool> whole_device;  // a device does not list this process, as in a container
};

class NvmlMeter {
 public:
  // Measures the devices allowed by `visible_devices` (VisibleGpus).
  NvmlMeter(const std::string& library, const std::optional<std::string>& visible_devices, pid_t own);
  GpuReading Read(int64_t t_ns);

 private:
  struct Device {
    Device(const nvml::Calls& calls, nvml::Device opened) : handle(opened), gpm(calls, opened) {}
    nvml::Device handle;
    nvml::Question utilization, memory_v2, memory_v1, power, temperature, clock_events, processes_v2, processes_v1, pcie,
        pcie_replays, ecc;
    std::optional<uint64_t> corrected, uncorrected, replays;  // at the first reading
    Gpm gpm;
  };
  struct Memory {
    double total_mb, taken_mb;
  };
  void AddPcie(int64_t t_ns, GpuReading* reading);
  void AddErrors(GpuReading* reading);
  void AddMemory(GpuReading* reading);
  std::optional<Memory> ReadMemory(Device& device) const;
  // MiB of this process; absent if the device does not list it or the driver does not report it.
  std::optional<double> ReadOwn(Device& device) const;
  // False if the device does not support this call.
  template <class Process>
  bool FindOwn(nvml::Device handle, int (*call)(nvml::Device, unsigned*, Process*), nvml::Question* question,
               std::optional<double>* own_mb) const;

  pid_t own_;
  nvml::Library library_;           // before the devices: their destructors call it
  std::list<Device> devices_;       // a Gpm does not move
  std::optional<int64_t> pcie_ns_;  // of its last reading
};

}  // namespace backplane
