#include "machine/gpus.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace backplane {
namespace {

using testing::ElementsAre;

TEST(Gpus, ListsEveryDeviceOfTheDriver) {
  const std::vector<Gpu> gpus = FindGpus(FAKE_NVML_FILE);
  ASSERT_EQ(2u, gpus.size());
  EXPECT_EQ(0u, gpus[0].index);
  EXPECT_EQ("GPU-11111111-aaaa", gpus[0].uuid);
  EXPECT_EQ("Fake A", gpus[0].name);
  EXPECT_EQ(8ull << 30, gpus[0].memory_bytes);
  EXPECT_EQ("GPU-22222222-bbbb", gpus[1].uuid);
  EXPECT_EQ(16ull << 30, gpus[1].memory_bytes);
}

TEST(Gpus, AreNoneWithoutTheLibrary) { EXPECT_TRUE(FindGpus("libno-such-driver.so.1").empty()); }

TEST(Gpus, AreNoneIfTheLibraryLacksTheFunctions) { EXPECT_TRUE(FindGpus("libm.so.6").empty()); }

std::vector<std::string> Visible(const std::optional<std::string>& list) {
  std::vector<std::string> names;
  for (const Gpu& gpu : VisibleGpus(FindGpus(FAKE_NVML_FILE), list)) names.push_back(gpu.name);
  return names;
}

TEST(VisibleGpus, AreAllWithoutAList) { EXPECT_THAT(Visible(std::nullopt), ElementsAre("Fake A", "Fake B")); }

TEST(VisibleGpus, AreListedByNumberUuidOrItsBeginning) {
  EXPECT_THAT(Visible("1"), ElementsAre("Fake B"));
  EXPECT_THAT(Visible("1, 0"), ElementsAre("Fake B", "Fake A"));
  EXPECT_THAT(Visible("GPU-22222222-bbbb"), ElementsAre("Fake B"));
  EXPECT_THAT(Visible("GPU-2,GPU-1"), ElementsAre("Fake B", "Fake A"));
}

TEST(VisibleGpus, AreNoneUnderAnEmptyListOrMinusOne) {
  EXPECT_THAT(Visible(""), ElementsAre());
  EXPECT_THAT(Visible("-1"), ElementsAre());
}

TEST(VisibleGpus, EndBeforeTheFirstEntryThatNamesNoDevice) {
  EXPECT_THAT(Visible("1,-1,0"), ElementsAre("Fake B"));
  EXPECT_THAT(Visible("0,2,1"), ElementsAre("Fake A"));
  EXPECT_THAT(Visible("0,,1"), ElementsAre("Fake A"));
  EXPECT_THAT(Visible("0,0,1"), ElementsAre("Fake A"));
  EXPECT_THAT(Visible("1,GPU-3"), ElementsAre("Fake B"));
  EXPECT_THAT(Visible("1x,0"), ElementsAre());
  EXPECT_THAT(Visible("GPU-"), ElementsAre()) << "both begin so";
}

TEST(Gpus, AreNoneWithoutADriver) {
  setenv("FAKE_NVML", "no-driver", 1);
  EXPECT_TRUE(FindGpus(FAKE_NVML_FILE).empty());
  unsetenv("FAKE_NVML");
}

}  // namespace
}  // namespace backplane
