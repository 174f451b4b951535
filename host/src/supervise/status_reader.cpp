#include "supervise/status_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace backplane {

StatusReader::~StatusReader() {
  if (mapped_ != nullptr) {
    munmap(const_cast<StatusFile*>(mapped_), sizeof(StatusFile));
  }
}

bool StatusReader::Map() {
  const int fd = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  struct stat info {};
  void* address = MAP_FAILED;
  if (fstat(fd, &info) == 0 && static_cast<size_t>(info.st_size) >= sizeof(StatusFile)) {
    address = mmap(nullptr, sizeof(StatusFile), PROT_READ, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (address == MAP_FAILED) {
    return false;
  }
  mapped_ = static_cast<const StatusFile*>(address);
  return true;
}

std::optional<StatusFile> StatusReader::Read() {
  if (mapped_ == nullptr && !Map()) {
    return std::nullopt;
  }
  StatusFile copy;
  std::memcpy(&copy, mapped_, sizeof copy);
  if (std::strncmp(copy.magic, "BPSTAT1", sizeof copy.magic) != 0) {
    return std::nullopt;  // being made
  }
  copy.phase[sizeof copy.phase - 1] = copy.plugin[sizeof copy.plugin - 1] = copy.line[sizeof copy.line - 1] = '\0';
  return copy;
}

}  // namespace backplane
