#include "base/patient_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <string>

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRetry{5};
constexpr int kTerminalPatience_ms = 30'000, kPipePatience_ms = 600'000;

class Deadline {
 public:
  explicit Deadline(int limit_ms) : end_(Clock::now() + milliseconds(limit_ms)) {}
  int left_ms() const {
    const auto left = std::chrono::ceil<milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
  }

 private:
  const Clock::time_point end_;
};

// A separate descriptor for the same terminal or pipe, because O_NONBLOCK on `fd` itself would affect other processes.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {
    struct stat file {};
    if (fstat(fd, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISCHR(file.st_mode)))
      own_ = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  ~Writer() {
    if (own_ >= 0) close(own_);
  }
  Writer(const Writer&) = delete;

  int fd() const { return own_ >= 0 ? own_ : fd_; }

 private:
  const int fd_;
  int own_ = -1;
};

struct Patience {
  int fd, limit_ms;
  bool blocked = false;  // the last write timed out
  bool lost = false;     // a write timed out
};
Patience g_stdout{STDOUT_FILENO, kTerminalPatience_ms}, g_stderr{STDERR_FILENO, kNotePatience_ms};

// Reports abandoned text as written, because fmt throws after a short write, even from a destructor.
ssize_t WritePatiently(void* patience, const char* text, size_t size) {
  Patience& to = *static_cast<Patience*>(patience);
  const bool written = WriteWithin(to.fd, {text, size}, to.blocked ? 0 : to.limit_ms);
  to.blocked = !written && errno == ETIME;
  to.lost |= to.blocked;
  return written || to.blocked ? static_cast<ssize_t>(size) : 0;
}

std::FILE* OpenPatient(Patience* patience, int buffering) {
  std::FILE* const stream = fopencookie(patience, "w", {nullptr, WritePatiently, nullptr, nullptr});
  if (stream != nullptr) std::setvbuf(stream, nullptr, buffering, BUFSIZ);
  return stream;
}

}  // namespace

bool TakesOutput(int fd, int limit_ms) {
  const Deadline deadline(limit_ms);
  pollfd room{fd, POLLOUT, 0};
  int found = 0;
  while ((found = poll(&room, 1, deadline.left_ms())) < 0 && errno == EINTR && deadline.left_ms() > 0) {
  }
  return found > 0;
}

bool WriteWithin(int fd, std::string_view text, int limit_ms) {
  const Deadline deadline(limit_ms);
  const Writer writer(fd);
  while (!text.empty()) {
    if (!TakesOutput(writer.fd(), deadline.left_ms())) {
      errno = ETIME;
      return false;
    }
    // A pipe with room accepts this many bytes without blocking.
    const ssize_t written = write(writer.fd(), text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN && deadline.left_ms() > 0) {
      poll(nullptr, 0, static_cast<int>(kRetry.count()));  // a terminal may have room for less than a line's end
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

int ResultPatience_ms() {
  struct stat file {};
  return fstat(STDOUT_FILENO, &file) == 0 && S_ISFIFO(file.st_mode) ? kPipePatience_ms : kTerminalPatience_ms;
}

void LimitOutput(int result_patience_ms) {
  g_stdout.limit_ms = result_patience_ms;
  if (DescriptorOf(stderr) != fileno(stderr)) return;
  std::fflush(nullptr);
  if (std::FILE* const stream = OpenPatient(&g_stdout, isatty(STDOUT_FILENO) != 0 ? _IOLBF : _IOFBF)) stdout = stream;
  if (std::FILE* const stream = OpenPatient(&g_stderr, _IONBF)) stderr = stream;
}

bool OutputWasGivenUp() { return g_stdout.lost; }

int DescriptorOf(std::FILE* stream) {
  return stream == stdout ? STDOUT_FILENO : stream == stderr ? STDERR_FILENO : fileno(stream);
}

}  // namespace backplane
