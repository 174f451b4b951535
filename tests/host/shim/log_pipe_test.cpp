#include "shim/log_pipe.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.hpp"

namespace backplane {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class LogPipeTest : public testing::Test {
 protected:
  LogPipeTest() : fd_(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC, 0644)) {}
  ~LogPipeTest() override {
    close(fd_);
    std::filesystem::remove(file_);
  }
  static void Print(LogPipe* pipe, const std::string& text) {
    ASSERT_EQ(static_cast<ssize_t>(text.size()), write(pipe->writer(), text.data(), text.size()));
    pipe->Take();
  }
  std::string Log() const { return ReadFile(file_).value(); }

  const std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / ("log_pipe_test_" + std::to_string(getpid()));
  const int fd_;
};

TEST_F(LogPipeTest, WritesShortOutputImmediatelyAndUnchanged) {
  LogPipe pipe(fd_);
  Print(&pipe, "one\n");
  EXPECT_EQ("one\n", Log());
  Print(&pipe, "two");
  EXPECT_EQ("one\ntwo", Log());
  pipe.Finish();
  EXPECT_EQ("one\ntwo", Log());
}

TEST_F(LogPipeTest, ALittleMoreThanTheBeginningIsStillWhole) {
  LogPipe pipe(fd_, {.head_bytes = 6, .tail_bytes = 100});
  Print(&pipe, "one\ntwo\n");
  Print(&pipe, "three\n");
  EXPECT_EQ("one\ntw", Log());
  pipe.Finish();
  EXPECT_EQ("one\ntwo\nthree\n", Log());
}

// With lines of 8 bytes, the first 2 and the last 4 stay; a line that would be cut is omitted.
TEST_F(LogPipeTest, OmitsAndCountsLinesInTheMiddle) {
  LogPipe pipe(fd_, {.head_bytes = 16, .tail_bytes = 36});
  for (int i = 1000; i < 1100; ++i) Print(&pipe, "li-" + std::to_string(i) + "\n");
  pipe.Finish();
  EXPECT_EQ("li-1000\nli-1001\n\n[backplane: 752 bytes omitted here]\nli-1096\nli-1097\nli-1098\nli-1099\n", Log());
}

// Chunks of every length, over every position in the ring.
TEST_F(LogPipeTest, KeepsTheEndForChunksOfAnyLength) {
  for (size_t step = 1; step < 40; ++step) {
    ASSERT_EQ(0, ftruncate(fd_, 0));
    LogPipe pipe(fd_, {.head_bytes = 10, .tail_bytes = 16});
    std::string all;
    for (char c = 'a'; all.size() < 400; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      const std::string text(step, c);
      all += text;
      Print(&pipe, text);
    }
    pipe.Finish();
    EXPECT_THAT(Log(), StartsWith(all.substr(0, 10)));
    EXPECT_THAT(Log(), EndsWith("]\n" + all.substr(all.size() - 16)));
    EXPECT_THAT(Log(), HasSubstr(" " + std::to_string(all.size() - 26) + " bytes"));
  }
}

TEST_F(LogPipeTest, KeepsTheBoundIfTheFileIsLongAlready) {
  ASSERT_EQ(8, write(fd_, "earlier\n", 8));
  LogPipe pipe(fd_, {.head_bytes = 10, .tail_bytes = 4});
  Print(&pipe, "abcdefgh\nij\n");
  pipe.Finish();
  EXPECT_EQ("earlier\nab\n[backplane: 7 bytes omitted here]\nij\n", Log());
}

// /dev/full fails every write, like a full disk.
TEST_F(LogPipeTest, DoesNotBlockOnAFullDisk) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  LogPipe pipe(full, {.head_bytes = 1 << 20, .tail_bytes = 1 << 10});
  for (int i = 0; i < 1000; ++i) Print(&pipe, std::string(4096, 'x'));
  pipe.Finish();
  close(full);
}

TEST_F(LogPipeTest, DoesNotWaitForAWriterThatStaysOpen) {
  LogPipe pipe(fd_);
  const int kept = dup(pipe.writer());
  Print(&pipe, "last words\n");
  pipe.Finish();
  EXPECT_EQ("last words\n", Log());
  EXPECT_GE(pipe.reader(), 0);
  close(kept);
  pipe.Take();
  EXPECT_EQ(-1, pipe.reader());
}

}  // namespace
}  // namespace backplane
