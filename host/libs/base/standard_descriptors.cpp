#include "base/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace backplane {

void OpenStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open returns the lowest free number; all below this one are in use. Without /dev/null, as in a bare chroot, the root
    // folder occupies the number: output is lost, but no file is damaged.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0) {
      [[maybe_unused]] const int folder = open("/", O_RDONLY | O_DIRECTORY);
    }
  }
}

}  // namespace backplane
