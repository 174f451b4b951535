#include "machine/nvml_meter.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace backplane {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;

class NvmlMeterTest : public testing::Test {
 protected:
  ~NvmlMeterTest() override { unsetenv("FAKE_NVML"); }

  static void Driver(const char* mode) { setenv("FAKE_NVML", mode, 1); }
  // Counted since the driver was loaded.
  static unsigned Calls(const char* what) {
    static void* driver = dlopen(FAKE_NVML_FILE, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<unsigned (*)(const char*)>(dlsym(driver, "fake_nvml_calls"))(what);
  }
  static GpuReading ReadOnce(const std::optional<std::string>& visible = std::nullopt) {
    return NvmlMeter(FAKE_NVML_FILE, visible, getpid()).Read(kSecond_ns);
  }
  static void ExpectNothing(const GpuReading& reading) {
    EXPECT_FALSE(reading.util_pct || reading.memory_pct || reading.vram_used_mb || reading.power_w || reading.temperature_c ||
                 reading.clock_events || reading.sm_util_pct || reading.whole_device);
  }
};

TEST_F(NvmlMeterTest, TwoDevicesAreOneReading) {
  const GpuReading both = ReadOnce();
  EXPECT_EQ(both.util_pct, 50) << "mean of 40 and 60";
  EXPECT_EQ(both.vram_used_mb, 1024 + 2048) << "only this process";
  EXPECT_EQ(both.memory_pct, 100.0 * (256 + 2048 + 256 + 4096) / (8192 + 16384)) << "all memory that is not free";
  EXPECT_EQ(both.power_w, 250.5);
  EXPECT_EQ(both.temperature_c, 70);
  EXPECT_EQ(both.clock_events, 0x24u);
  EXPECT_EQ(both.whole_device, false);
}

TEST_F(NvmlMeterTest, OnlyVisibleDevicesAreRead) {
  EXPECT_EQ(ReadOnce("GPU-2").util_pct, 60);
  EXPECT_EQ(ReadOnce("0").power_w, 100);
  ExpectNothing(ReadOnce(""));
}

TEST_F(NvmlMeterTest, MultiprocessorsNeedTwoSamplesATenthOfASecondApart) {
  NvmlMeter meter(FAKE_NVML_FILE, std::nullopt, getpid());
  EXPECT_EQ(meter.Read(kSecond_ns).sm_util_pct, std::nullopt);
  EXPECT_EQ(meter.Read(kSecond_ns + kSecond_ns / 10).sm_util_pct, std::nullopt);
  EXPECT_EQ(meter.Read(kSecond_ns + kSecond_ns / 10 + 1).sm_util_pct, 40);
}

TEST_F(NvmlMeterTest, PcieTrafficIsReadOncePerSecond) {
  NvmlMeter meter(FAKE_NVML_FILE, std::nullopt, getpid());
  const GpuReading first = meter.Read(kSecond_ns);
  EXPECT_EQ(first.pcie_sent_mbps, 40 + 60);
  EXPECT_EQ(first.pcie_received_mbps, 3 * (40 + 60));
  EXPECT_EQ(meter.Read(2 * kSecond_ns - 1).pcie_sent_mbps, std::nullopt) << "each query waits for 20 ms";
  EXPECT_EQ(meter.Read(2 * kSecond_ns).pcie_sent_mbps, 100);
}

TEST_F(NvmlMeterTest, EccErrorsCountFromTheFirstReadingOn) {
  NvmlMeter meter(FAKE_NVML_FILE, std::nullopt, getpid());
  const GpuReading first = meter.Read(kSecond_ns), second = meter.Read(2 * kSecond_ns);
  EXPECT_EQ(first.ecc_corrected, 0);
  EXPECT_EQ(second.ecc_corrected, 1) << "of the only device with ECC";
  EXPECT_EQ(second.ecc_uncorrected, 0);
  EXPECT_EQ(ReadOnce("1").ecc_corrected, std::nullopt);
}

TEST_F(NvmlMeterTest, PcieReplaysCountFromTheFirstReadingOn) {
  NvmlMeter meter(FAKE_NVML_FILE, std::nullopt, getpid());
  EXPECT_EQ(meter.Read(kSecond_ns).pcie_replays, 0);
  EXPECT_EQ(meter.Read(2 * kSecond_ns).pcie_replays, 2 + 2) << "sum of both devices";
  Driver("mig");
  EXPECT_EQ(ReadOnce().pcie_replays, std::nullopt);
}

TEST_F(NvmlMeterTest, UnknownProcessGivesNumbersOfTheWholeDevice) {
  Driver("container");
  const GpuReading reading = ReadOnce("0");
  EXPECT_EQ(reading.whole_device, true);
  EXPECT_EQ(reading.vram_used_mb, 256 + 2048);
}

TEST_F(NvmlMeterTest, ReadsNothingWithoutLibraryOrDriver) {
  ExpectNothing(NvmlMeter("libno-such-driver.so.1", std::nullopt, getpid()).Read(kSecond_ns));
  Driver("no-driver");
  ExpectNothing(ReadOnce());
}

TEST_F(NvmlMeterTest, ForbiddenValuesAreAbsentAndReadOnce) {
  Driver("no-permission");
  NvmlMeter meter(FAKE_NVML_FILE, "0", getpid());
  const unsigned before = Calls("utilization") + Calls("power");
  for (int i = 1; i <= 3; ++i) {
    const GpuReading reading = meter.Read(i * kSecond_ns);
    EXPECT_EQ(reading.util_pct, std::nullopt);
    EXPECT_EQ(reading.power_w, std::nullopt);
    EXPECT_EQ(reading.temperature_c, 60);
  }
  EXPECT_EQ(Calls("utilization") + Calls("power"), before + 2);
}

TEST_F(NvmlMeterTest, ADividedDeviceHasNoUtilisation) {
  Driver("mig");
  NvmlMeter meter(FAKE_NVML_FILE, std::nullopt, getpid());
  const unsigned before = Calls("utilization"), samples_before = Calls("gpm_sample");
  meter.Read(kSecond_ns);
  const GpuReading reading = meter.Read(2 * kSecond_ns);
  EXPECT_EQ(reading.util_pct, std::nullopt);
  EXPECT_EQ(reading.sm_util_pct, std::nullopt);
  EXPECT_EQ(reading.vram_used_mb, 1024 + 2048);
  EXPECT_EQ(Calls("utilization"), before + 2) << "once for each device";
  EXPECT_EQ(Calls("gpm_sample"), samples_before);
}

TEST_F(NvmlMeterTest, FallsBackToTheOldVersionOfAStruct) {
  Driver("other-version");
  NvmlMeter meter(FAKE_NVML_FILE, "0", getpid());
  const unsigned before = Calls("memory_v2");
  meter.Read(kSecond_ns);
  const GpuReading reading = meter.Read(2 * kSecond_ns);
  EXPECT_EQ(reading.memory_pct, 100.0 * (256 + 2048) / 8192);
  EXPECT_EQ(reading.sm_util_pct, std::nullopt);
  EXPECT_EQ(Calls("memory_v2"), before + 1);
}

TEST_F(NvmlMeterTest, OldLibraryGivesTheSameReadings) {
  NvmlMeter old(FAKE_OLD_NVML_FILE, std::nullopt, getpid());
  old.Read(kSecond_ns);
  const GpuReading reading = old.Read(2 * kSecond_ns), now = ReadOnce();
  EXPECT_EQ(reading.util_pct, now.util_pct);
  EXPECT_EQ(reading.memory_pct, now.memory_pct);
  EXPECT_EQ(reading.vram_used_mb, now.vram_used_mb);
  EXPECT_EQ(reading.power_w, now.power_w);
  EXPECT_EQ(reading.clock_events, now.clock_events);
  EXPECT_EQ(reading.whole_device, false);
  EXPECT_EQ(reading.sm_util_pct, std::nullopt);
}

}  // namespace
}  // namespace backplane
