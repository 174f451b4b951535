#include "supervise/layout.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "base/files.hpp"

namespace backplane {
namespace {

// "a/b/" -> "a/b": with the slash, ".1" would be a folder inside.
std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

OutLock::OutLock(const std::filesystem::path& out) {
  std::filesystem::create_directories(out);
  const std::filesystem::path file = out / "lock";
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw std::runtime_error("cannot create " + file.string() + ": " + std::strerror(errno));
  }
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = ReadFile(file).value_or("");
    close(fd_);
    throw std::runtime_error(out.string() + " is in use by another run" + (holder.empty() ? "" : " (process " + holder + ")") +
                             "; wait for it, or choose another folder with --out");
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd_, 0) == 0) {
    [[maybe_unused]] const ssize_t n = pwrite(fd_, pid.data(), pid.size(), 0);  // only for the message above
  }
}

OutLock::~OutLock() { close(fd_); }

unsigned TrialFolder::LastAttempt() const {
  unsigned last = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "attempt-";
    unsigned number = 0;
    if (name.starts_with(kPrefix) &&
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number).ptr == name.data() + name.size()) {
      last = std::max(last, number);
    }
  }
  return last;
}

bool TrialFolder::HasCheckpoint() const {
  std::error_code error;
  return std::filesystem::is_directory(checkpoint(), error) && !std::filesystem::is_empty(checkpoint(), error);
}

TrialFolder TrialFolderOf(const std::filesystem::path& out, const std::string& trial_id) {
  return {std::filesystem::absolute(out) / "trials" / trial_id};
}

std::optional<std::filesystem::path> MoveAside(const std::filesystem::path& out) {
  const std::filesystem::path from = WithoutTrailingSlash(out);
  if (!std::filesystem::exists(from)) {
    return std::nullopt;
  }
  const OutLock lock(from);  // a running experiment is not moved away under its feet
  for (unsigned number = 1;; ++number) {
    const std::filesystem::path to = from.string() + "." + std::to_string(number);
    if (!std::filesystem::exists(to)) {
      std::filesystem::rename(from, to);
      return to;
    }
  }
}

}  // namespace backplane
