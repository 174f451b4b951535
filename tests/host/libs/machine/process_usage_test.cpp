#include "machine/process_usage.hpp"

#include <gmock/gmock.h>

#include "host/libs/machine/fake_machine.hpp"
#include "machine/process_tree.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

const double kTicks = static_cast<double>(sysconf(_SC_CLK_TCK));

// Process numbers beyond the kernel's range: this test's own process is read with a different clock.
constexpr int kRoot = 9'000'000, kChild = 9'000'100, kGrandchild = 9'000'050, kStranger = 9'000'200;

class ProcessUsageTest : public FakeMachine {
 protected:
  void Tree() {
    Process(kRoot, 1, 100), Process(kChild, kRoot, 50), Process(kGrandchild, kChild, 25), Process(kStranger, 1, 900);
    Put("proc/version", "x");
  }
  void ListChildren() {
    Thread(kRoot, kRoot, 1), Thread(kRoot, kRoot + 1, 0.5, std::to_string(kChild) + " ");
    Thread(kChild, kChild, 0, std::to_string(kGrandchild)), Thread(kGrandchild, kGrandchild, 0);
  }
  void ExpectTree() {
    const TreeUsage usage = TreeReader(kRoot, proc()).Read();
    EXPECT_EQ(usage.processes, 3);
    EXPECT_EQ(usage.threads, 6);
    EXPECT_NEAR(usage.cpu_s, 175 / kTicks, 1e-9);
    EXPECT_EQ(usage.rss_mb, 3 * 2);
    EXPECT_EQ(usage.rss_peak_mb, 3 * 4);
  }
};

TEST_F(ProcessUsageTest, NamesWithSpacesAndParenthesesDoNotShiftTheFields) {
  Process(7, 42, 30, "a) R (b 1 2");
  std::ifstream file(proc() / "7/stat");
  ProcStat stat;
  ASSERT_TRUE(ParseStat(std::string(std::istreambuf_iterator<char>(file), {}), &stat));
  EXPECT_EQ(stat.parent, 42);
  EXPECT_EQ(stat.own_ticks, 30);
  EXPECT_FALSE(ParseStat("", &stat));
  EXPECT_FALSE(ParseStat("7 (x) S 1", &stat));
}

TEST_F(ProcessUsageTest, ChildrenIncludeAllThreads) {
  Tree(), ListChildren();
  ASSERT_TRUE(ListsChildren(kRoot, proc()));
  EXPECT_THAT(ChildrenOf(kRoot, proc()), ElementsAre(kChild));
  EXPECT_THAT(DescendantsOf(kRoot, proc()), ElementsAre(kChild, kGrandchild));
  ExpectTree();
}

TEST_F(ProcessUsageTest, FindsChildrenByParentsIfNoListsExist) {
  Tree();
  ASSERT_FALSE(ListsChildren(kRoot, proc()));
  EXPECT_THAT(ChildrenOf(kRoot, proc()), ElementsAre(kChild));
  EXPECT_THAT(DescendantsOf(kRoot, proc()), UnorderedElementsAre(kChild, kGrandchild));
  ExpectTree();
}

TEST_F(ProcessUsageTest, WaitingIncludesAllThreads) {
  Tree();
  EXPECT_FALSE(TreeReader(kRoot, proc()).Read().run_queue_wait_s) << "the kernel does not count it";
  ListChildren();
  EXPECT_NEAR(TreeReader(kRoot, proc()).Read().run_queue_wait_s.value(), 1.5, 1e-9);
}

TEST_F(ProcessUsageTest, ProcessesThatAreGoneCountNothing) {
  Tree(), ListChildren();
  std::filesystem::remove_all(proc() / std::to_string(kChild) / "stat");
  EXPECT_EQ(TreeReader(kRoot, proc()).Read().processes, 2);
  EXPECT_EQ(TreeReader(kStranger + 1, proc()).Read().processes, 0);
}

TEST_F(ProcessUsageTest, TheOwnProcessIsReadByItsFinerClock) {
  TreeReader reader(getpid());
  const double before = reader.Read().cpu_s, after = reader.Read().cpu_s;
  EXPECT_GT(after, before) << "reading takes less than a tick of 10 ms, and more than none";
  EXPECT_GT(reader.Read().rss_mb, 0.5);
}

}  // namespace
}  // namespace backplane
