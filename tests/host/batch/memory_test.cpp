#include <gmock/gmock.h>

#include <csignal>

#include "batch/outcome.hpp"
#include "engine_fixture.hpp"

namespace backplane {
namespace {

constexpr uint64_t kLimit = 256ull << 20;

class MemoryTest : public EngineTest {
 protected:
  JobEnd RunLimited(std::vector<std::string> arguments) {
    TrialCommand command = Fake(std::move(arguments));
    command.allocation.memory_bytes = kLimit;
    engine_.Start(command);
    return End();
  }
  static std::string OutcomeOf(const JobEnd& end) {
    return Word(Classify({end.exit, StopReason::kNone, std::nullopt, end.over_memory, end.peak_rss_bytes, kLimit}).outcome);
  }
};

TEST_F(MemoryTest, TrialWithinItsLimitCompletes) {
  const JobEnd end = RunLimited({"exit", "0"});
  EXPECT_EQ(0, end.exit.code);
  EXPECT_FALSE(end.over_memory);
  EXPECT_NE("", end.memory_enforced_by);
}

TEST_F(MemoryTest, OneProcessThatFillsMemoryIsOom) {
  const JobEnd end = RunLimited({"fill", std::to_string(2 * kLimit)});
  EXPECT_EQ("oom", OutcomeOf(end)) << end.exit.code << " " << end.exit.signal;
  EXPECT_LT(end.peak_rss_bytes, 2 * kLimit);
}

TEST_F(MemoryTest, CrashAtTheMemoryLimitIsOom) {
  const JobEnd end = RunLimited({"fill", std::to_string(2 * kLimit), "crash"});
  EXPECT_EQ("oom", OutcomeOf(end)) << end.exit.code << " " << end.exit.signal << " " << end.peak_rss_bytes;
}

TEST_F(MemoryTest, ProcessesThatOnlyTogetherTakeTooMuchAreOom) {
  const JobEnd end = RunLimited({"fill-in-children", "4", std::to_string(kLimit / 2)});
  EXPECT_TRUE(end.over_memory);
  EXPECT_EQ("oom", OutcomeOf(end));
  EXPECT_GT(end.peak_memory_bytes, kLimit);
  EXPECT_LT(end.peak_rss_bytes, kLimit);
  EXPECT_THAT(Left(), testing::IsEmpty());
}

TEST_F(MemoryTest, ReservedAddressSpaceIsNotMemory) {
  TrialCommand command = Fake({"-c", "import mmap; mmap.mmap(-1, 1 << 34, prot=0)"});
  command.child.program = "/usr/bin/python3";
  if (!std::filesystem::exists(command.child.program)) {
    GTEST_SKIP() << "no /usr/bin/python3";
  }
  command.allocation.memory_bytes = kLimit;
  engine_.Start(command);
  EXPECT_EQ(0, End().exit.code) << ReadFile(folder_ / "stderr.log").value_or("");
}

}  // namespace
}  // namespace backplane
