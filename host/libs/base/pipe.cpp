#include "base/pipe.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <system_error>

namespace backplane {
namespace {

[[noreturn]] void Fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

size_t WriteWhole(int fd, std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n == 0) errno = ENOSPC;
    if (n == 0 || (n < 0 && errno != EINTR)) break;
    done += n > 0 ? static_cast<size_t>(n) : 0;
  }
  return done;
}

Pipe::Pipe(Read read, int bytes) {
  if (pipe2(ends_, O_CLOEXEC) != 0) Fail("cannot make a pipe");
  // Only for this end: the writing program expects to block.
  if (read == Read::kReturns) fcntl(reader(), F_SETFL, O_NONBLOCK);
  if (bytes > 0) fcntl(reader(), F_SETPIPE_SZ, bytes);
}

Pipe::~Pipe() {
  CloseReader();
  CloseWriter();
}

SocketPair::SocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Fail("cannot make a pair of sockets");
  ours_ = ends[0];
  theirs_ = ends[1];
}

SocketPair::~SocketPair() {
  close(ours_);
  if (theirs_ >= 0) close(theirs_);
}

}  // namespace backplane
