#include "keep/log_pipe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace backplane {
namespace {

// The trial goes on printing into it while we write to a slow disk. More is not given to users without privileges.
constexpr int kPipeBytes = 1 << 20;
constexpr size_t kBlockBytes = 64 << 10;
constexpr int kBlocksAtOnce = 16;

// How much of it was written: all of it, unless the disk is full or broken.
size_t WriteSome(int fd, const char* text, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = write(fd, text + done, size - done);
    if (n <= 0 && errno != EINTR) {
      break;
    }
    done += n > 0 ? static_cast<size_t>(n) : 0;
  }
  return done;
}

uint64_t SizeOf(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? static_cast<uint64_t>(file.st_size) : 0;
}

}  // namespace

LogPipe::LogPipe(int file, LogBounds bounds)
    : file_(file), bounds_(bounds), head_left_bytes_(bounds.head_bytes - std::min(bounds.head_bytes, SizeOf(file))) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  reader_ = fds[0];
  writer_ = fds[1];
  fcntl(reader_, F_SETFL, O_NONBLOCK);  // of this end alone: the printing side waits as a program expects
  fcntl(reader_, F_SETPIPE_SZ, kPipeBytes);
}

LogPipe::~LogPipe() {
  CloseWriter();
  if (reader_ >= 0) {
    close(reader_);
  }
}

void LogPipe::CloseWriter() {
  if (writer_ >= 0) {
    close(writer_);
  }
  writer_ = -1;
}

void LogPipe::Take() {
  for (int i = 0; i < kBlocksAtOnce && TakeOnce(); ++i) {
  }
}

void LogPipe::Finish() {
  CloseWriter();
  // A process out of reach may print on: what it could have had in the pipe by now is enough.
  for (int i = 0; i < 2 * kPipeBytes / static_cast<int>(kBlockBytes) && TakeOnce(); ++i) {
  }
  const std::string tail = Tail();
  WriteSome(file_, tail.data(), tail.size());
  ring_.clear();
}

// False if there is nothing now, or nothing can come any more.
bool LogPipe::TakeOnce() {
  if (reader_ < 0) {
    return false;
  }
  char block[kBlockBytes];
  const ssize_t n = read(reader_, block, sizeof block);
  if (n == 0) {
    close(reader_);
    reader_ = -1;
  }
  if (n <= 0) {
    return n < 0 && errno == EINTR;
  }
  const auto size = static_cast<size_t>(n);
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(size, head_left_bytes_));
  const size_t written = WriteSome(file_, block, wanted);
  // After a gap nothing more goes into the beginning: the file would pretend to be whole.
  head_left_bytes_ = written < wanted ? 0 : head_left_bytes_ - written;
  Keep(block + written, size - written);
  return true;
}

void LogPipe::Keep(const char* text, size_t size) {
  const size_t grown = std::min(size, bounds_.tail_bytes - ring_.size());
  ring_.append(text, grown);
  dropped_bytes_ += size - grown;
  for (size_t done = grown; done < size;) {
    const size_t part = std::min(size - done, ring_.size() - ring_at_);
    std::memcpy(ring_.data() + ring_at_, text + done, part);
    ring_at_ = (ring_at_ + part) % ring_.size();
    done += part;
  }
}

// Whole lines, after a sentence if something is missing before them.
std::string LogPipe::Tail() const {
  std::string tail = ring_.substr(ring_at_) + ring_.substr(0, ring_at_);
  if (dropped_bytes_ == 0) {
    return tail;
  }
  const size_t line_end = tail.find('\n');
  const size_t cut = line_end == std::string::npos ? 0 : line_end + 1;
  return "\n[backplane: " + std::to_string(dropped_bytes_ + cut) + " bytes were printed here and left out]\n" +
         tail.substr(cut);
}

}  // namespace backplane
