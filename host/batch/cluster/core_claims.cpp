#include "cluster/core_claims.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/scratch_folder.hpp"
#include "log/log.hpp"

namespace backplane {

std::filesystem::path CoreClaims::DefaultFolder() {
  return std::filesystem::temp_directory_path() / ("backplane-cores-" + std::to_string(getuid()));
}

CoreClaims::CoreClaims(const std::vector<int>& cpus, size_t wanted, const std::filesystem::path& folder) {
  if (cpus.size() <= wanted) {
    if (cpus.size() == wanted) cores_ = cpus;
    return;
  }
  try {
    MakeOwnFolder(folder);
  } catch (const std::runtime_error& e) {
    LogInfo("warning: {}; trials are not pinned to cores", e.what());
    return;
  }
  for (const int cpu : cpus) {
    if (cores_.size() == wanted) return;
    const int fd = open((folder / std::to_string(cpu)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
      fds_.push_back(fd);
      cores_.push_back(cpu);
    } else {
      close(fd);
    }
  }
  if (cores_.size() < wanted) Release();
}

CoreClaims::~CoreClaims() { Release(); }

void CoreClaims::Release() {
  for (const int fd : fds_) close(fd);
  fds_.clear();
  cores_.clear();
}

}  // namespace backplane
