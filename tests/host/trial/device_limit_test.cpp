#include "trial/device_limit.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(DeviceLimit, IsAShareOfTheDevice) { EXPECT_EQ(AllocatorSettings("", .25), "per_process_memory_fraction:0.250000"); }

TEST(DeviceLimit, AddsToTheUsersSettings) {
  EXPECT_EQ(AllocatorSettings("expandable_segments:True", .1), "expandable_segments:True,per_process_memory_fraction:0.100000");
  EXPECT_EQ(AllocatorSettings("per_process_memory_fraction:0.5", .1), "per_process_memory_fraction:0.5");
}

DeviceMemory Resolved(DeviceMemory limit, double gpus, const std::vector<uint64_t>& sizes) {
  ResourceConfig resources;
  resources.gpus = gpus, resources.device_memory = limit;
  std::vector<Gpu> devices;
  for (uint64_t size : sizes) devices.push_back({.uuid = "", .name = "", .memory_bytes = size});
  ResolveDeviceMemory(devices, &resources);
  return resources.device_memory.value_or(DeviceMemory());
}

TEST(DeviceLimit, PercentageIsOfTheSmallestGpuOrTheShareOfOne) {
  EXPECT_EQ(Resolved({.percent = 95}, 1, {40 * kGiB}).bytes, 38 * kGiB);
  EXPECT_EQ(Resolved({.percent = 50}, 2, {40 * kGiB, 16 * kGiB}).bytes, 8 * kGiB);
  EXPECT_EQ(Resolved({.percent = 50}, 0.25, {16 * kGiB}).bytes, 2 * kGiB);
  EXPECT_EQ(Resolved({.bytes = kGiB}, 0.25, {16 * kGiB}).bytes, kGiB);
  EXPECT_EQ(Resolved({.percent = 95}, 0, {}), DeviceMemory()) << "no GPU, no limit";
}

TEST(DeviceLimit, RejectsAPercentageOfAnUnknownGpu) {
  EXPECT_THAT([] { Resolved({.percent = 95}, 1, {}); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr(
                  "resources.device_memory: expected a GPU whose memory the driver reports, for 95% of it, got none")));
  EXPECT_EQ(Resolved({.bytes = kGiB}, 1, {}).bytes, kGiB);
}

}  // namespace
}  // namespace backplane
