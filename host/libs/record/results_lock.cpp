#include "record/results_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "record/results_folder.hpp"

namespace backplane {

bool IsFree(const std::filesystem::path& out) {
  const int fd = open(ResultsFolder{out}.lock().c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return true;
  }
  const bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return free;
}

}  // namespace backplane
