#include "supervise/layout.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/files.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kRetry{50};
constexpr std::chrono::milliseconds kBriefly{300};       // someone may only be looking whether it is free
constexpr std::chrono::milliseconds kOrphansEnd{40000};  // a trial gets 30 s to save itself, then it is killed

// "a/b/" -> "a/b": with the slash, ".1" would be a folder inside.
std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::filesystem::path LockFile(const std::filesystem::path& out) { return out / "lock"; }

// What the lock file says; absent if it is empty, as between two runs, or of no known form.
std::optional<ProcessId> ReadHolder(const std::filesystem::path& out) {
  return ProcessIdFromJson(nlohmann::json::parse(ReadFile(LockFile(out)).value_or(""), nullptr, /*allow_exceptions=*/false));
}

bool TryLock(int fd, std::chrono::milliseconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(kRetry);
  }
  return true;
}

[[noreturn]] void RefuseInUse(const std::filesystem::path& out, const std::optional<ProcessId>& holder) {
  std::string by;
  if (holder) {
    by = " (process " + std::to_string(holder->pid) + " on " + holder->hostname + ")";
  }
  throw std::runtime_error(out.string() + " is in use by another run" + by +
                           "; wait for it, stop it with `backplane stop`, or choose another folder with --out");
}

// True if the lock was got.
bool WaitForOrphans(int fd, const std::filesystem::path& out, const OutLock::Say& say) {
  if (say) {
    say("waiting for trials in " + out.string() + " to end: the run that started them is gone");
  }
  return TryLock(fd, kOrphansEnd);
}

}  // namespace

OutLock::OutLock(const std::filesystem::path& out, const Say& say) {
  std::filesystem::create_directories(out);
  const std::filesystem::path file = LockFile(out);
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw std::runtime_error("cannot create " + file.string() + ": " + std::strerror(errno));
  }
  try {
    if (!TryLock(fd_, kBriefly)) {
      const std::optional<ProcessId> holder = ReadHolder(out);
      if (!holder || IsAlive(*holder) || !WaitForOrphans(fd_, out, say)) {
        RefuseInUse(out, holder);
      }
    }
    const std::string text = ToJson(ThisProcess()).dump() + "\n";
    // Never empty in between: a watcher would take the batch for ended.
    if (pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        ftruncate(fd_, static_cast<off_t>(text.size())) != 0) {
      throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
    }
  } catch (...) {
    close(fd_);
    throw;
  }
}

OutLock::~OutLock() {
  // While we still hold it: this process may live on without being at work here.
  [[maybe_unused]] const int emptied = ftruncate(fd_, 0);
  close(fd_);
}

std::optional<ProcessId> FindSupervisor(const std::filesystem::path& out) {
  const std::optional<ProcessId> holder = ReadHolder(out);
  return holder && IsAlive(*holder) ? holder : std::nullopt;
}

bool IsFree(const std::filesystem::path& out) {
  const int fd = open(LockFile(out).c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return true;
  }
  const bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return free;
}

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
