#include "supervise/gpus.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace backplane {
namespace {

TEST(Gpus, DriverIsAskedForEveryDevice) {
  const std::vector<Gpu> gpus = FindGpus(FAKE_NVML_FILE);
  ASSERT_EQ(2u, gpus.size());
  EXPECT_EQ(0u, gpus[0].index);
  EXPECT_EQ("GPU-11111111-aaaa", gpus[0].uuid);
  EXPECT_EQ("Fake A", gpus[0].name);
  EXPECT_EQ(8ull << 30, gpus[0].memory_bytes);
  EXPECT_EQ("GPU-22222222-bbbb", gpus[1].uuid);
  EXPECT_EQ(16ull << 30, gpus[1].memory_bytes);
}

TEST(Gpus, NoLibraryIsNoGpu) { EXPECT_TRUE(FindGpus("libno-such-driver.so.1").empty()); }

TEST(Gpus, LibraryWithoutTheFunctionsIsNoGpu) { EXPECT_TRUE(FindGpus("libm.so.6").empty()); }

TEST(Gpus, LibraryWithoutADriverIsNoGpu) {
  setenv("FAKE_NVML", "no-driver", 1);
  EXPECT_TRUE(FindGpus(FAKE_NVML_FILE).empty());
  unsetenv("FAKE_NVML");
}

}  // namespace
}  // namespace backplane
