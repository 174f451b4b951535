#include "base/held_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace backplane {

HeldFile::HeldFile(const std::filesystem::path& file)
    : name_(std::filesystem::absolute(file)), fd_(open(name_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw std::runtime_error("cannot open " + name_.string() + ": " + std::strerror(errno));
  Look();
}

HeldFile::~HeldFile() { close(fd_); }

FileLoss HeldFile::Look() {
  if (loss_ == FileLoss::kNone) loss_ = LossNow();
  return loss_;
}

FileLoss HeldFile::LossNow() {
  struct stat held {
  }, there{};
  if (fstat(fd_, &held) != 0) return FileLoss::kNone;
  if (stat(name_.c_str(), &there) != 0) return errno == ENOENT ? FileLoss::kDeleted : FileLoss::kNone;
  if (held.st_dev != there.st_dev || held.st_ino != there.st_ino) return FileLoss::kReplaced;
  const auto bytes = static_cast<uint64_t>(held.st_size);
  if (bytes < most_bytes_) return FileLoss::kCut;
  most_bytes_ = bytes;
  return FileLoss::kNone;
}

std::string HeldFile::Content() const {
  std::string content;
  char block[64 << 10];
  for (ssize_t n = 0; (n = pread(fd_, block, sizeof block, static_cast<off_t>(content.size()))) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::runtime_error("cannot read " + name_.string() + ": " + std::strerror(errno));
    content.append(block, static_cast<size_t>(n));
  }
  return content;
}

}  // namespace backplane
