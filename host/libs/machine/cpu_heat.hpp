// Temperature, frequency and thermal throttling of CPUs, from the kernel's folders: hwmon, thermal zones, cpufreq and
// thermal_throttle. Virtual machines usually have none of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace backplane {

// Finds its files once; missing ones are not tried again.
class CpuHeat {
 public:
  // `cpus`: numbers. Sensors cover whole packages, whose other cores may belong to other programs.
  CpuHeat(const std::filesystem::path& sys, const std::vector<int>& cpus);

  std::optional<double> TemperatureC() const;  // the hottest sensor of any CPU
  std::optional<double> FrequencyMhz() const;  // mean of the CPUs
  // Times that heat lowered a clock of the CPUs, since boot.
  std::optional<uint64_t> Throttles() const;

 private:
  std::vector<std::filesystem::path> sensors_, frequencies_, throttles_;
};

}  // namespace backplane
