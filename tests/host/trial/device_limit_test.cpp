#include "trial/device_limit.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(DeviceLimit, IsAShareOfTheDevice) {
  EXPECT_EQ(AllocatorSettings("", 20 * kGiB, 80 * kGiB), "per_process_memory_fraction:0.250000");
  EXPECT_EQ(AllocatorSettings("", 96 * kGiB, 80 * kGiB), "per_process_memory_fraction:1.000000");
}

TEST(DeviceLimit, AddsToTheUsersSettings) {
  EXPECT_EQ(AllocatorSettings("expandable_segments:True", 8 * kGiB, 80 * kGiB),
            "expandable_segments:True,per_process_memory_fraction:0.100000");
  EXPECT_EQ(AllocatorSettings("per_process_memory_fraction:0.5", 8 * kGiB, 80 * kGiB), "per_process_memory_fraction:0.5");
}

}  // namespace
}  // namespace backplane
