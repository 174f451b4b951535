// Converts the machine's counters into a row: use since the last reading, and present values.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "columns.hpp"
#include "machine/cpu.hpp"
#include "machine/cpu_heat.hpp"
#include "machine/memory.hpp"
#include "machine/nvml_meter.hpp"
#include "machine/process_usage.hpp"

namespace backplane::resources {

struct Source {
  pid_t root = 0;  // the trial's process
  std::filesystem::path proc = "/proc", sys = "/sys";
  std::string nvml_library = nvml::kLibrary;
  std::optional<std::string> visible_gpus;  // CUDA_VISIBLE_DEVICES
};

class Sampler {
 public:
  // Finds the readable sources; missing ones are not tried again.
  explicit Sampler(const Source& source);

  // All columns since the last call; values of the first call are meaningless.
  std::array<double, kColumnCount> Read(int64_t t_ns);

 private:
  using Values = std::array<double, kColumnCount>;
  void ReadProcesses(int64_t t_ns, Values* values);
  void ReadMachine(Values* values);
  void ReadPressure(int64_t t_ns, Values* values);
  void ReadHeat(Values* values);
  void ReadGpus(int64_t t_ns, Values* values);

  std::filesystem::path proc_;
  double effective_cpus_;
  std::filesystem::path quota_group_;
  std::optional<LimitedMemory> limited_memory_;
  std::array<std::optional<std::filesystem::path>, 3> pressure_;
  TreeReader tree_;
  CpuHeat heat_;
  NvmlMeter gpus_;

  int64_t last_ns_ = 0;
  double cpu_s_ = 0, run_queue_wait_s_ = 0, rss_peak_mb_ = 0;
  std::optional<CpuTimes> cpu_times_;
  std::optional<Throttling> throttling_;
  std::optional<uint64_t> heat_throttles_;
  std::array<std::optional<double>, 3> stalled_s_;
};

}  // namespace backplane::resources
