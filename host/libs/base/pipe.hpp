// Bytes between processes: whole writes, pipes and pairs of sockets. Their ends are closed when a process executes a program.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace backplane {

// Writes everything, resuming after signals. Returns the number of bytes written: fewer than given if it failed (errno).
size_t WriteWhole(int fd, std::string_view bytes);

class Pipe {
 public:
  enum class Read { kWaits = 1, kReturns };  // if it is empty
  // `bytes`: of the kernel's buffer; 0: its default. Throws std::system_error.
  explicit Pipe(Read read = Read::kReturns, int bytes = 0);
  ~Pipe();
  Pipe(const Pipe&) = delete;

  int reader() const { return ends_[0]; }  // -1: closed
  int writer() const { return ends_[1]; }
  void CloseReader() { Close(0); }
  void CloseWriter() { Close(1); }

  static constexpr size_t kBlockBytes = 64 << 10;

  // Calls `use` with the bytes in the pipe, at most `most_blocks` times. Closes the reader once all writers are closed. Returns
  // false if it is closed.
  template <class Use>
  bool Take(size_t most_blocks, Use use) {
    char block[kBlockBytes];
    for (size_t i = 0; i < most_blocks && reader() >= 0; ++i) {
      const ssize_t n = read(reader(), block, sizeof block);
      if (n > 0) {
        use(std::string_view(block, static_cast<size_t>(n)));
      } else if (n < 0 && errno == EAGAIN) {
        return true;
      } else if (n == 0 || errno != EINTR) {
        CloseReader();
      }
    }
    return reader() >= 0;
  }
  bool TakeInto(std::string* text, size_t most_blocks = std::numeric_limits<size_t>::max()) {
    return Take(most_blocks, [text](std::string_view bytes) { text->append(bytes); });
  }

 private:
  void Close(size_t end) {
    if (ends_[end] >= 0) close(std::exchange(ends_[end], -1));
  }

  int ends_[2];
};

// A stream in both directions.
class SocketPair {
 public:
  SocketPair();  // throws std::system_error
  ~SocketPair();
  SocketPair(const SocketPair&) = delete;

  int ours() const { return ours_; }
  int theirs() const { return theirs_; }  // -1: closed
  void CloseTheirs() { close(std::exchange(theirs_, -1)); }

 private:
  int ours_ = -1, theirs_ = -1;
};

}  // namespace backplane
