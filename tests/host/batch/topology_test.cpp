#include "batch/topology.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Two nodes of two physical cores with two threads each, in the kernel's numbering: 0-3, then their siblings 4-7.
class TopologyTest : public testing::Test {
 protected:
  TopologyTest() {
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string siblings = std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4);
      Put("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", siblings);
    }
    Put("node/online", "0-1");
    Put("node/node0/cpulist", "0-1,4-5");
    Put("node/node1/cpulist", "2-3,6-7");
  }
  ~TopologyTest() override { std::filesystem::remove_all(sys_); }

  void Put(const std::string& file, const std::string& text) {
    const std::filesystem::path path = sys_ / "devices/system" / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  std::vector<Cpu> Free(const std::vector<int>& numbers) const { return ReadTopology(numbers, sys_); }
  std::vector<int> Choose(const std::vector<int>& free, size_t count) const {
    return ChooseCores(Free({0, 1, 2, 3, 4, 5, 6, 7}), Free(free), count);
  }

  std::filesystem::path sys_ = std::filesystem::path(testing::TempDir()) / ("topology_test_" + std::to_string(getpid()));
};

TEST_F(TopologyTest, SiblingsAndNodesAreRead) {
  const std::vector<Cpu> cpus = Free({1, 6});
  ASSERT_THAT(cpus, SizeIs(2));
  EXPECT_EQ(1, cpus[0].physical_core);
  EXPECT_EQ(0, cpus[0].node);
  EXPECT_EQ(2, cpus[1].physical_core);
  EXPECT_EQ(1, cpus[1].node);
}

TEST_F(TopologyTest, TreatsEveryCoreAsSingleWithoutTopology) {
  const std::vector<Cpu> cpus = ReadTopology({3, 5}, sys_ / "nothing");
  EXPECT_EQ(3, cpus[0].physical_core);
  EXPECT_EQ(5, cpus[1].physical_core);
  EXPECT_EQ(0, cpus[1].node);
}

TEST_F(TopologyTest, SiblingsGoTogether) { EXPECT_THAT(Choose({0, 1, 2, 3, 4, 5, 6, 7}, 2), ElementsAre(0, 4)); }

TEST_F(TopologyTest, OneNodeIfItFits) {
  EXPECT_THAT(Choose({0, 2, 3, 4, 6, 7}, 4), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(Choose({0, 2, 3, 4, 6, 7}, 2), ElementsAre(0, 4)) << "the larger gap stays for a larger trial";
}

TEST_F(TopologyTest, SeveralNodesIfNoneFits) {
  EXPECT_THAT(Choose({0, 1, 2, 3, 4, 5, 6, 7}, 6), ElementsAre(0, 1, 2, 4, 5, 6));
}

TEST_F(TopologyTest, OddCoreComesFromABrokenPair) { EXPECT_THAT(Choose({0, 1, 4}, 1), ElementsAre(1)); }

TEST_F(TopologyTest, SplitsAPairOnlyIfNoOtherCoreIsLeft) { EXPECT_THAT(Choose({0, 4}, 1), ElementsAre(0)); }

TEST_F(TopologyTest, ListsOfTheKernel) {
  EXPECT_THAT(ParseCpuList("0-2,7,10-11\n"), ElementsAre(0, 1, 2, 7, 10, 11));
  EXPECT_THAT(ParseCpuList("\n"), IsEmpty());
}

}  // namespace
}  // namespace backplane
