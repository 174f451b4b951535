// Cluster programs that hang, fail, or print nonsense or nothing: scripts first on PATH.
#include "cluster/program_call.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/files.hpp"

namespace backplane {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class ProgramCallTest : public testing::Test {
 protected:
  ProgramCallTest() {
    std::filesystem::create_directories(folder_);
    setenv("PATH", (folder_.string() + ":/usr/bin:/bin").c_str(), 1);
  }
  ~ProgramCallTest() override {
    setenv("PATH", "/usr/bin:/bin", 1);
    std::filesystem::remove_all(folder_);
  }

  CallEnd Call(const std::string& script, milliseconds limit = std::chrono::seconds(60), const std::string& input = "") {
    std::ofstream(folder_ / "squeue") << "#!/bin/sh\necho $$ > " << (folder_ / "pid").string() << "\n" << script << "\n";
    std::filesystem::permissions(folder_ / "squeue", std::filesystem::perms::owner_all);
    return ProgramCall({"squeue", "a b", "$c"}, limit, input).Await();
  }
  bool IsGone() const {
    const pid_t pid = std::atoi(ReadFile(folder_ / "pid").value_or("0").c_str());
    return pid > 0 && kill(pid, 0) != 0;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("program_call_test_" + std::to_string(getpid()));
};

TEST_F(ProgramCallTest, PassesWordsAndInputAndReturnsOutput) {
  const std::string input(200'000, 'x');  // more than a pipe holds
  const CallEnd end = Call("printf '%s|' \"$@\"; cat; echo said >&2", std::chrono::seconds(60), input);
  EXPECT_TRUE(end.ok()) << end.failure;
  EXPECT_EQ(end.out, "a b|$c|" + input);
  EXPECT_EQ(end.err, "said\n");
}

TEST_F(ProgramCallTest, KillsProgramThatHangs) {
  EXPECT_EQ(Call("exec sleep 600", milliseconds(500)).failure, "squeue did not answer within 0.5 s and was killed");
  EXPECT_TRUE(IsGone());
  EXPECT_EQ(Call("sleep 600; true", milliseconds(500)).failure, "squeue did not answer within 0.5 s and was killed");
  EXPECT_TRUE(IsGone()) << "with what it started";
  EXPECT_EQ(Call("kill -STOP $$", milliseconds(500)).failure, "squeue did not answer within 0.5 s and was killed");
  EXPECT_TRUE(IsGone());
}

TEST_F(ProgramCallTest, NamesReasonOfFailedProgram) {
  EXPECT_EQ(Call("exit 3").failure, "squeue ended with exit code 3 and printed no reason");
  EXPECT_EQ(Call("echo >&2; printf 'bad \\033[31m news\\nmore\\n' >&2; exit 1").failure,
            "squeue ended with exit code 1: bad \\x1b[31m news");
  EXPECT_EQ(Call("kill -9 $$").failure, "squeue was ended by signal 9 and printed no reason");
  std::filesystem::remove(folder_ / "squeue");
  const std::string missing = ProgramCall({"no-such-program"}).Await().failure;
  EXPECT_THAT(missing, testing::StartsWith("no-such-program cannot be started: "));
}

TEST_F(ProgramCallTest, BoundsOutputOfAProgram) {
  EXPECT_EQ(Call("exec cat /dev/zero").failure, "squeue printed more than 16 MiB and was killed");
  EXPECT_EQ(Call("exec cat /dev/zero >&2").failure, "squeue printed more than 16 MiB and was killed");
  EXPECT_TRUE(IsGone());
}

TEST_F(ProgramCallTest, KillsCallThatIsGivenUp) {
  {
    std::ofstream(folder_ / "squeue") << "#!/bin/sh\necho $$ > " << (folder_ / "pid").string() << "\nexec sleep 600\n";
    std::filesystem::permissions(folder_ / "squeue", std::filesystem::perms::owner_all);
    ProgramCall call({"squeue"});
    while (ReadFile(folder_ / "pid").value_or("").empty()) std::this_thread::sleep_for(milliseconds(2));
    EXPECT_EQ(call.Look(), nullptr);
  }
  EXPECT_TRUE(IsGone());
}

TEST_F(ProgramCallTest, ReadsPatienceFromTheEnvironment) {
  EXPECT_EQ(ClusterPatience(), std::chrono::seconds(30));
  for (const auto& [text, seconds] : {std::pair("7", 7), {"0", 30}, {"-1", 30}, {"soon", 30}, {"999999", 3600}}) {
    setenv("BACKPLANE_CLUSTER_PATIENCE", text, 1);
    EXPECT_EQ(ClusterPatience(), std::chrono::seconds(seconds)) << text;
  }
  unsetenv("BACKPLANE_CLUSTER_PATIENCE");
}

}  // namespace
}  // namespace backplane
