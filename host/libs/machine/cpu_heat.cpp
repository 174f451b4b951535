#include "machine/cpu_heat.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "machine/kernel_file.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// Drivers of CPU sensors: Intel, AMD, and boards whose device tree names the sensor.
constexpr std::string_view kDrivers[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal"};
constexpr std::string_view kZones[] = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc-thermal", "cpu0-thermal"};
constexpr double kMostC = 150;  // a broken sensor shows more

// Sorted, because a folder has no order. Empty if there is no such folder.
std::vector<fs::path> Entries(const fs::path& folder, std::string_view prefix, std::string_view suffix = "") {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.starts_with(prefix) && name.ends_with(suffix)) found.push_back(it->path());
  }
  std::ranges::sort(found);
  return found;
}

bool Names(const fs::path& file, const auto& known) {
  std::string name = ReadKernelFile(file).value_or("");
  name.erase(std::min(name.find('\n'), name.size()));
  return std::ranges::find(known, name) != std::end(known);
}

// Below zero is absent; no CPU is that cold.
std::optional<uint64_t> NumberOf(const fs::path& file) {
  const std::optional<std::string> text = ReadKernelFile(file);
  return text ? NumberIn(*text) : std::nullopt;
}

std::vector<fs::path> FindSensors(const fs::path& sys) {
  std::vector<fs::path> sensors;
  for (const fs::path& chip : Entries(sys / "class/hwmon", "hwmon")) {
    if (!Names(chip / "name", kDrivers)) continue;
    for (fs::path& input : Entries(chip, "temp", "_input")) sensors.push_back(std::move(input));
  }
  if (!sensors.empty()) return sensors;
  for (const fs::path& zone : Entries(sys / "class/thermal", "thermal_zone")) {
    if (Names(zone / "type", kZones)) sensors.push_back(zone / "temp");
  }
  return sensors;
}

}  // namespace

CpuHeat::CpuHeat(const fs::path& sys, const std::vector<int>& cpus) : sensors_(FindSensors(sys)) {
  for (const int cpu : cpus) {
    const fs::path folder = sys / "devices/system/cpu" / ("cpu" + std::to_string(cpu));
    if (NumberOf(folder / "cpufreq/scaling_cur_freq")) frequencies_.push_back(folder / "cpufreq/scaling_cur_freq");
    if (NumberOf(folder / "thermal_throttle/core_throttle_count"))
      throttles_.push_back(folder / "thermal_throttle/core_throttle_count");
  }
  std::erase_if(sensors_, [](const fs::path& file) { return !NumberOf(file); });
}

std::optional<double> CpuHeat::TemperatureC() const {
  std::optional<double> hottest;
  for (const fs::path& sensor : sensors_) {
    const std::optional<uint64_t> milli = NumberOf(sensor);
    const double celsius = static_cast<double>(milli.value_or(0)) / 1000;
    if (milli && celsius <= kMostC) hottest = std::max(hottest.value_or(celsius), celsius);
  }
  return hottest;
}

std::optional<double> CpuHeat::FrequencyMhz() const {
  double sum = 0;
  size_t n = 0;
  for (const fs::path& file : frequencies_) {
    if (const std::optional<uint64_t> khz = NumberOf(file)) sum += static_cast<double>(*khz) / 1000, ++n;
  }
  return n > 0 ? std::optional(sum / static_cast<double>(n)) : std::nullopt;
}

std::optional<uint64_t> CpuHeat::Throttles() const {
  if (throttles_.empty()) return std::nullopt;
  uint64_t sum = 0;
  for (const fs::path& file : throttles_) sum += NumberOf(file).value_or(0);
  return sum;
}

}  // namespace backplane
