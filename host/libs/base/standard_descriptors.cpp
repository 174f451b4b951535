#include "base/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace backplane {

void OpenStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open takes the lowest number that is free, and all below this one are taken by now. Without /dev/null, as in a bare
    // chroot, the root folder keeps the number: what is printed is lost then, and no file is hurt.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0) {
      [[maybe_unused]] const int folder = open("/", O_RDONLY | O_DIRECTORY);
    }
  }
}

}  // namespace backplane
