#include "record/gpu_figures.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<GpuFigures> FiguresUnder(const char* driver) {
  const nvml::Library library(driver);
  return FiguresOf(FindGpus(library), library);
}

// The simulated device has the clocks and cores of an A100; the peaks and the bandwidth are from NVIDIA's data sheet.
TEST(GpuFigures, AgreeWithTheDataSheetOfTheDevice) {
  const GpuFigures a100 = FiguresUnder(FAKE_NVML_FILE).at(0);
  EXPECT_EQ(a100.capability, "8.0");
  EXPECT_EQ(a100.cores, 6912u);
  EXPECT_EQ(a100.multiprocessors, 108u);
  EXPECT_NEAR(*a100.bytes_per_s, 1555e9, 1e9);
  EXPECT_NEAR(*a100.f64, 9.7e12, 0.1e12);
  EXPECT_NEAR(*a100.f32, 19.5e12, 0.1e12);
  EXPECT_NEAR(*a100.tf32, 156e12, 1e12);
  EXPECT_NEAR(*a100.half, 312e12, 1e12);
  EXPECT_THAT(Sentence(a100),
              HasSubstr("compute capability 8.0; 6,912 cores; 1,555 GB/s; at 1,410 MHz at most, TFLOP/s: 9.75 float64"));
}

TEST(GpuFigures, ForUnknownCapabilityAreFromTheDriver) {
  const GpuFigures unknown = FiguresUnder(FAKE_NVML_FILE).at(1);
  EXPECT_EQ(unknown.f32, 2.0 * 1000 * 2000e6);
  EXPECT_EQ(unknown.bytes_per_s, 2.0 * 8000e6 * 256 / 8);
  EXPECT_FALSE(unknown.multiprocessors || unknown.half || unknown.f64);
  EXPECT_THAT(Sentence(unknown), HasSubstr("compute capability 99.1, whose tensor cores are unknown here; 1,000 cores"));
}

TEST(GpuFigures, FromOldDriverAreNameAndMemory) {
  const GpuFigures old = FiguresUnder(FAKE_OLD_NVML_FILE).at(0);
  EXPECT_EQ(old.name, "Fake A");
  EXPECT_FALSE(old.capability || old.cores || old.f32 || old.bytes_per_s);
  EXPECT_EQ(Sentence(old), "rows of a vector env to try first: 256 to 512");
}

// 6 GiB and 40 or 80 GiB, as drivers report them.
TEST(GpuFigures, RowsGrowWithTheMemory) {
  const nvml::Library none("libno-such-driver.so.1");
  const auto rows = [&](double gib) {
    const Gpu gpu{.index = 0, .uuid = "", .name = "", .memory_bytes = static_cast<uint64_t>(gib * (1ull << 30))};
    const GpuFigures figures = FiguresOf({gpu}, none).at(0);
    return std::pair(figures.rows_least, figures.rows_most);
  };
  EXPECT_EQ(rows(5.9), std::pair(uint64_t{128}, uint64_t{256}));
  EXPECT_EQ(rows(39.4), std::pair(uint64_t{1024}, uint64_t{2048}));
  EXPECT_EQ(rows(79.2), std::pair(uint64_t{2048}, uint64_t{4096}));
}

}  // namespace
}  // namespace backplane
