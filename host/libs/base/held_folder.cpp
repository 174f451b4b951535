#include "base/held_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace backplane {
namespace {

std::filesystem::path ThroughDescriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

HeldFolder::HeldFolder(const std::filesystem::path& folder)
    : name_(std::filesystem::absolute(folder)),
      fd_(open(name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      error_(fd_ < 0 ? errno : 0) {}

HeldFolder::~HeldFolder() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

void HeldFolder::Require() const {
  if (fd_ < 0) {
    throw std::runtime_error("cannot open " + name_.string() + ": " + std::strerror(error_));
  }
}

bool HeldFolder::InPlace() const { return fd_ < 0 || IsAt(fd_, name_); }

bool HeldFolder::Deleted() const {
  struct stat held {};
  return fd_ >= 0 && fstat(fd_, &held) == 0 && held.st_nlink == 0;
}

std::filesystem::path HeldFolder::Now() const { return InPlace() ? name_ : ThroughDescriptor(fd_); }

std::filesystem::path HeldFolder::Where() const {
  if (InPlace()) {
    return name_;
  }
  std::error_code error;
  const std::filesystem::path where = std::filesystem::read_symlink(ThroughDescriptor(fd_), error);
  return !error && IsAt(fd_, where) ? where : std::filesystem::path();
}

bool IsAt(int fd, const std::filesystem::path& file) {
  struct stat held {
  }, there{};
  return fstat(fd, &held) == 0 && stat(file.c_str(), &there) == 0 && held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

}  // namespace backplane
