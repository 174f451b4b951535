// The supervisor's connection to the side process of a search, against programs that answer badly or not at all.
#include "search/side_process.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/files.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class SideProcessTest : public testing::Test {
 protected:
  SideProcessTest() {
    std::filesystem::create_directories(folder_);
    setenv("BACKPLANE_PYTHON", (folder_ / "python").c_str(), 1);
  }
  ~SideProcessTest() override {
    unsetenv("BACKPLANE_PYTHON");
    std::filesystem::remove_all(folder_);
  }

  // Replaces Python: runs these lines per request; they may use `line` and `say(text)`.
  void Answer(const std::string& lines) {
    std::ofstream(folder_ / "python") << "#!/usr/bin/env python3\n"
                                         "import os, signal, sys, time\n"
                                         "requests, replies = os.fdopen(int(sys.argv[2]), 'r'), int(sys.argv[3])\n"
                                         "open('"
                                      << (folder_ / "pid").string()
                                      << "', 'w').write(str(os.getpid()))\n"
                                         "def say(text):\n"
                                         "    while text: text = text[os.write(replies, text.encode()):]\n"
                                         "for line in requests:\n    "
                                      << lines << "\n";
    std::filesystem::permissions(folder_ / "python", std::filesystem::perms::owner_all);
  }

  std::string ErrorOf(const json& request, SearchWait wait = {30, nullptr}) {
    SideProcess side(folder_ / "log", wait);
    try {
      side.Ask(request);
    } catch (const SearchError& error) {
      EXPECT_THROW(side.Ask(request), SearchError) << "it was ended";
      return error.what();
    }
    return "";
  }
  bool IsGone() const {
    const pid_t pid = std::atoi(ReadFile(folder_ / "pid").value_or("0").c_str());
    return pid == 0 || (kill(pid, 0) != 0 && errno == ESRCH);
  }

  const json ask_ = {{"op", "ask"}};
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("side_process_test_" + std::to_string(getpid()));
};

TEST_F(SideProcessTest, EndsProcessThatDoesNotAnswerInTime) {
  Answer("time.sleep(600)");
  EXPECT_THAT(ErrorOf(ask_, {0.5, nullptr}), HasSubstr("did not answer 'ask' within 0.5 s (resources.hang_timeout)"));
  EXPECT_TRUE(IsGone());
}

TEST_F(SideProcessTest, EndsProcessThatIsStopped) {
  Answer("os.kill(os.getpid(), signal.SIGSTOP)");
  EXPECT_THAT(ErrorOf(ask_, {0.5, nullptr}), HasSubstr("did not answer 'ask' within 0.5 s"));
  EXPECT_TRUE(IsGone());
}

TEST_F(SideProcessTest, StopsWaitingWhenTheBatchStops) {
  Answer("time.sleep(600)");
  int ticks = 0;
  EXPECT_THAT(ErrorOf(ask_, {600, [&ticks] { return ++ticks < 3; }}), HasSubstr("stopped while"));
  EXPECT_EQ(ticks, 3);
  EXPECT_TRUE(IsGone());
}

TEST_F(SideProcessTest, TicksWhileAReplyComesInDrops) {
  Answer("\n    while True: say(' '); time.sleep(0.01)");
  int ticks = 0;
  EXPECT_THAT(ErrorOf(ask_, {600, [&ticks] { return ++ticks < 5; }}), HasSubstr("stopped while"));
}

TEST_F(SideProcessTest, TicksBetweenManyQuickRequests) {
  Answer("say('{}\\n')");
  int ticks = 0;
  SideProcess side(folder_ / "log", {600, [&ticks] { return ++ticks > 0; }});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ticks == 0 && std::chrono::steady_clock::now() < until) side.Ask(ask_);
  EXPECT_GT(ticks, 0);
}

TEST_F(SideProcessTest, SendsRequestThatIsLargerThanTheSocket) {
  Answer("say('{\"size\": %d}\\n' % len(line))");
  SideProcess side(folder_ / "log", {60, nullptr});
  const json large = {{"op", "open"}, {"space", std::string(4 << 20, 'x')}};
  EXPECT_GT(side.Ask(large)["size"].get<size_t>(), size_t{4} << 20);
}

TEST_F(SideProcessTest, StopsWaitingForRoomForARequest) {
  Answer("pass");
  std::ofstream(folder_ / "python", std::ios::trunc) << "#!/bin/sh\nexec sleep 600\n";
  const json large = {{"op", "open"}, {"space", std::string(4 << 20, 'x')}};
  EXPECT_THAT(ErrorOf(large, {600, [] { return false; }}), HasSubstr("stopped while"));
}

TEST_F(SideProcessTest, ReportsMalformedReplies) {
  Answer("say('not \\x1b[31mjson\\n')");
  EXPECT_THAT(ErrorOf(ask_), AllOf(HasSubstr("expected a JSON object as the reply to 'ask', got not \\x1b[31mjson")));
  Answer("say('[1]\\n')");
  EXPECT_THAT(ErrorOf(ask_), HasSubstr("got [1]"));
  Answer("say('x' * (40 << 20))");
  EXPECT_THAT(ErrorOf(ask_), HasSubstr("its reply to 'ask' is longer than 16 MiB"));
  Answer("sys.exit('it fell')");
  EXPECT_THAT(ErrorOf(ask_), AllOf(HasSubstr("has ended"), HasSubstr("it fell")));
  EXPECT_TRUE(IsGone());
}

TEST_F(SideProcessTest, LeavesNoDescriptorOpenIfItCannotBeStarted) {
  const auto count = [] {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
  };
  const int next = dup(STDIN_FILENO);  // the lowest free number
  close(next);
  const auto before = count();
  rlimit all{};
  getrlimit(RLIMIT_NOFILE, &all);
  for (int free = 0; free < 4; ++free) {
    rlimit few = all;
    few.rlim_cur = static_cast<rlim_t>(next + free);
    setrlimit(RLIMIT_NOFILE, &few);
    EXPECT_THROW(SideProcess(folder_ / "log", {30, nullptr}), SearchError);
    setrlimit(RLIMIT_NOFILE, &all);
    EXPECT_EQ(before, count()) << "with " << free << " free";
  }
}

TEST_F(SideProcessTest, ReportsASecondReplyToARequest) {
  Answer("say('{}\\n{\"number\": 7}\\n')");
  SideProcess side(folder_ / "log", {30, nullptr});
  side.Ask(ask_);
  try {
    side.Ask(ask_);
    ADD_FAILURE() << "expected an error";
  } catch (const SearchError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected one reply, got more"));
  }
}

TEST_F(SideProcessTest, KeepsProcessThatRejectsARequest) {
  Answer("say('{\"error\": \"ValueError: \\\\u001b[2J\"}\\n')");
  SideProcess side(folder_ / "log", {30, nullptr});
  for (int i = 0; i < 2; ++i) {
    try {
      side.Ask(ask_);
      ADD_FAILURE() << "expected an error";
    } catch (const SearchError& error) {
      EXPECT_STREQ(error.what(), "sweep.search: Optuna rejects 'ask': ValueError: \\x1b[2J");
    }
  }
}

}  // namespace
}  // namespace backplane
