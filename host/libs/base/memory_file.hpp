// Input and output of child processes in memory, without pipes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/pipe.hpp"

namespace backplane {

// A file in memory. Unlike a pipe it has unlimited room, so writers never wait, and a child that ignores its input causes no
// SIGPIPE here.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& content = "") : fd_(memfd_create("output", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error(std::string("cannot make a file in memory: ") + std::strerror(errno));
    if (WriteWhole(fd_, content) < content.size())
      throw std::runtime_error(std::string("cannot write to memory: ") + std::strerror(errno));
    lseek(fd_, 0, SEEK_SET);
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  std::string Content(size_t from = 0) const {  // the content written so far
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t n = 0; (n = pread(fd_, part.data(), part.size(), static_cast<off_t>(from + text.size()))) > 0;)
      text.append(part.data(), static_cast<size_t>(n));
    return text;
  }

 private:
  int fd_;
};

}  // namespace backplane
