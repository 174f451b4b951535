#include "base/patient_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace backplane {
namespace {

constexpr int kBriefly_ms = 200, kLong_ms = 60'000;

struct Ends {
  ~Ends() {
    close(read_end);
    close(write_end);
  }
  int read_end = -1, write_end = -1;
};

struct RawPipe : Ends {
  RawPipe() {
    int fds[2];
    EXPECT_EQ(0, pipe2(fds, O_CLOEXEC));
    read_end = fds[0], write_end = fds[1];
  }
};

struct Terminal : Ends {
  Terminal() { EXPECT_EQ(0, openpty(&read_end, &write_end, nullptr, nullptr, nullptr)); }
};

const std::string kMuch(1 << 20, 'x');  // more than a pipe or a terminal holds

TEST(PatientOutput, GivesUpIfPipeIsNotRead) {
  const RawPipe pipe;
  EXPECT_TRUE(WriteWithin(pipe.write_end, "some", kBriefly_ms));
  EXPECT_FALSE(WriteWithin(pipe.write_end, kMuch, kBriefly_ms));
  EXPECT_FALSE(TakesOutput(pipe.write_end, 0));
  EXPECT_EQ(0, fcntl(pipe.write_end, F_GETFL) & O_NONBLOCK) << "other processes use it, too";
}

TEST(PatientOutput, GivesUpIfTerminalIsNotRead) {
  const Terminal terminal;
  EXPECT_FALSE(WriteWithin(terminal.write_end, kMuch, kBriefly_ms));
  EXPECT_EQ(0, fcntl(terminal.write_end, F_GETFL) & O_NONBLOCK);
}

TEST(PatientOutput, GivesUpIfTerminalIsHalted) {
  const Terminal terminal;
  ASSERT_EQ(0, tcflow(terminal.write_end, TCOOFF));
  EXPECT_FALSE(WriteWithin(terminal.write_end, "some", kBriefly_ms));
  ASSERT_EQ(0, tcflow(terminal.write_end, TCOON));
  EXPECT_TRUE(WriteWithin(terminal.write_end, "some", kBriefly_ms));
}

TEST(PatientOutput, WaitsForSlowReader) {
  const RawPipe pipe;
  size_t read_bytes = 0;
  std::thread reader([&] {
    std::string block(1 << 16, ' ');
    for (ssize_t n = 0; read_bytes < kMuch.size() && (n = read(pipe.read_end, block.data(), block.size())) > 0;) {
      read_bytes += static_cast<size_t>(n);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  EXPECT_TRUE(WriteWithin(pipe.write_end, kMuch, kLong_ms));
  reader.join();
  EXPECT_EQ(kMuch.size(), read_bytes);
}

TEST(PatientOutput, EndsProcessWhoseOutputIsNotRead) {
  const RawPipe pipe;
  std::fflush(nullptr);  // the child inherits buffered output
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(30);
    dup2(pipe.write_end, STDOUT_FILENO);
    dup2(pipe.write_end, STDERR_FILENO);
    LimitOutput(kBriefly_ms);
    for (int i = 0; i < 1000; ++i) {  // each line would wait
      std::fputs(kMuch.c_str(), stdout);
      std::fprintf(stderr, "%s", kMuch.c_str());
    }
    const bool knows = OutputWasGivenUp() && std::ferror(stdout) == 0 && DescriptorOf(stdout) == STDOUT_FILENO &&
                       DescriptorOf(stderr) == STDERR_FILENO;
    std::exit(knows ? 7 : 8);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST(PatientOutput, PrintsAllThatIsRead) {
  const RawPipe pipe;
  std::fflush(nullptr);  // the child inherits buffered output
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(pipe.write_end, STDOUT_FILENO);
    dup2(pipe.write_end, STDERR_FILENO);
    std::printf("before ");
    LimitOutput(kLong_ms);
    std::printf("after ");
    std::fflush(stdout);
    std::fputs("error", stderr);
    std::exit(0);
  }
  waitpid(pid, nullptr, 0);
  std::string text(100, ' ');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(pipe.read_end, text.data(), text.size()))));
  EXPECT_EQ("before after error", text);
}

}  // namespace
}  // namespace backplane
