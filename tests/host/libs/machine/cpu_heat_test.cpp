#include "machine/cpu_heat.hpp"

#include "fake_machine.hpp"

namespace backplane {
namespace {

class CpuHeatTest : public FakeMachine {
 protected:
  void Chip(int n, const std::string& name, const std::string& millidegrees) {
    const std::string folder = "sys/class/hwmon/hwmon" + std::to_string(n);
    Put(folder + "/name", name + "\n");
    Put(folder + "/temp1_input", millidegrees + "\n");
  }
  void Zone(int n, const std::string& type, const std::string& millidegrees) {
    const std::string folder = "sys/class/thermal/thermal_zone" + std::to_string(n);
    Put(folder + "/type", type + "\n");
    Put(folder + "/temp", millidegrees + "\n");
  }
  void Cpu(int n, const std::string& file, const std::string& text) {
    Put("sys/devices/system/cpu/cpu" + std::to_string(n) + "/" + file, text + "\n");
  }
  CpuHeat Heat(const std::vector<int>& cpus = {0, 1}) const { return {root_ / "sys", cpus}; }
};

TEST_F(CpuHeatTest, IsTheHottestSensorOfTheCpusOnly) {
  Chip(0, "nvme", "90000"), Chip(1, "coretemp", "55000"), Chip(2, "coretemp", "61250"), Chip(3, "acpitz", "99000");
  EXPECT_EQ(Heat().TemperatureC(), 61.25);
}

TEST_F(CpuHeatTest, UsesThermalZonesOfCpusWithoutAChip) {
  Zone(0, "acpitz", "27800"), Zone(1, "x86_pkg_temp", "48000"), Zone(2, "iwlwifi_1", "60000");
  EXPECT_EQ(Heat().TemperatureC(), 48);
  Chip(0, "k10temp", "50000");
  EXPECT_EQ(Heat().TemperatureC(), 50) << "the chip is more precise";
}

TEST_F(CpuHeatTest, IgnoresSensorsWithoutAPlausibleNumber) {
  Chip(0, "coretemp", "-128000"), Chip(1, "coretemp", "not ready"), Chip(2, "coretemp", "65261850");
  EXPECT_EQ(Heat().TemperatureC(), std::nullopt);
  Chip(3, "coretemp", "40000");
  EXPECT_EQ(Heat().TemperatureC(), 40);
}

TEST_F(CpuHeatTest, FrequencyAndThrottlesAreOfTheGivenCpus) {
  for (int cpu = 0; cpu < 3; ++cpu) {
    Cpu(cpu, "cpufreq/scaling_cur_freq", std::to_string(1'000'000 * (cpu + 1)));
    Cpu(cpu, "thermal_throttle/core_throttle_count", std::to_string(10 * (cpu + 1)));
  }
  EXPECT_EQ(Heat({0, 2}).FrequencyMhz(), 2000);
  EXPECT_EQ(Heat({0, 2}).Throttles(), 40u);
  EXPECT_EQ(Heat({7}).FrequencyMhz(), std::nullopt);
  EXPECT_EQ(Heat({7}).Throttles(), std::nullopt);
}

TEST_F(CpuHeatTest, ReportsNothingInAMachineWithoutSensors) {
  EXPECT_EQ(Heat().TemperatureC(), std::nullopt);
  EXPECT_EQ(Heat().FrequencyMhz(), std::nullopt);
  EXPECT_EQ(Heat().Throttles(), std::nullopt);
}

}  // namespace
}  // namespace backplane
