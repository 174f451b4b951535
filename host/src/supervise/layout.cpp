#include "supervise/layout.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/files.hpp"
#include "trial/checkpoint.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kRetry{50};
constexpr std::chrono::milliseconds kBriefly{300};       // someone may only be looking whether it is free
constexpr std::chrono::milliseconds kOrphansEnd{40000};  // a trial gets 30 s to save itself, then it is killed

// "a/b/" -> "a/b": with the slash, ".1" would be a folder inside.
std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

struct Descriptor {
  ~Descriptor() {
    if (fd >= 0) {
      close(fd);
    }
  }
  int Release() { return std::exchange(fd, -1); }
  int fd;
};

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
  throw std::runtime_error(out.string() + " is in use by another " + (holder ? "run" : "command") + by +
                           "; wait for it, stop it with `backplane stop`, or choose another folder with --out");
}

// False once `--fresh` of another run has renamed the folder: then the lock is that of the old results.
bool IsStillAt(int fd, const std::filesystem::path& file) {
  struct stat held {
  }, there{};
  return fstat(fd, &held) == 0 && stat(file.c_str(), &there) == 0 && held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

// Waits for trials whose supervisor is dead. True if the lock was got.
bool WaitForOrphans(int fd, const std::filesystem::path& out, const OutLock::Say& say) {
  if (say) {
    say("waiting for trials in " + out.string() + " to end: the run that started them is gone");
  }
  return TryLock(fd, kOrphansEnd);
}

// The locked file; absent if it was moved away meanwhile, or never came to be for that reason.
std::optional<int> OpenLocked(const std::filesystem::path& out, const OutLock::Say& say) {
  std::filesystem::create_directories(out);
  const std::filesystem::path file = LockFile(out);
  Descriptor lock{open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
  if (lock.fd < 0 && errno == ENOENT) {
    return std::nullopt;
  }
  if (lock.fd < 0) {
    throw std::runtime_error("cannot create " + file.string() + ": " + std::strerror(errno));
  }
  if (!TryLock(lock.fd, kBriefly)) {
    const std::optional<ProcessId> holder = ReadHolder(out);
    const bool locked = holder && !IsAlive(*holder) && WaitForOrphans(lock.fd, out, say);
    if (!locked && IsStillAt(lock.fd, file)) {
      RefuseInUse(out, holder);
    }
  }
  return IsStillAt(lock.fd, file) ? std::optional(lock.Release()) : std::nullopt;
}

}  // namespace

OutLock::OutLock(const std::filesystem::path& out, const Say& say, LockFor what_for) {
  std::optional<int> locked;
  while (!(locked = OpenLocked(out, say))) {
  }
  Descriptor lock{*locked};
  const std::string text = what_for == LockFor::kBatch ? ToJson(ThisProcess()).dump() + "\n" : "";
  // Never empty in between: a watcher would take the batch for ended.
  if (pwrite(lock.fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ftruncate(lock.fd, static_cast<off_t>(text.size())) != 0) {
    throw std::runtime_error("cannot write " + LockFile(out).string() + ": " + std::strerror(errno));
  }
  fd_ = lock.Release();
}

OutLock::~OutLock() {
  // While we still hold it: this process may live on without being at work here.
  [[maybe_unused]] const int emptied = ftruncate(fd_, 0);
  close(fd_);
}

std::optional<ProcessId> FindSupervisor(const std::filesystem::path& out) {
  const std::optional<ProcessId> holder = ReadHolder(out);
  // What runs elsewhere can not be looked up here, and the machine may be gone for ever (a container of yesterday): the lock
  // knows.
  const bool here = holder && holder->hostname == ThisProcess().hostname;
  return holder && (here ? IsAlive(*holder) : !IsFree(out)) ? holder : std::nullopt;
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
  return std::filesystem::is_regular_file(checkpoint() / kCheckpointFile, error);
}

TrialFolder TrialFolderOf(const std::filesystem::path& out, const std::string& trial_id) {
  return {std::filesystem::absolute(out) / "trials" / trial_id};
}

std::optional<std::filesystem::path> MoveAside(const std::filesystem::path& out) {
  const std::filesystem::path from = WithoutTrailingSlash(out);
  if (!std::filesystem::exists(from)) {
    return std::nullopt;
  }
  // A running experiment is not moved away under its feet. Held until the rename is done: who waits for this lock then finds
  // that it belongs to the old results, and takes the new folder's.
  const OutLock lock(from);
  for (unsigned number = 1;; ++number) {
    const std::filesystem::path to = from.string() + "." + std::to_string(number);
    if (!std::filesystem::exists(to)) {
      std::filesystem::rename(from, to);
      return to;
    }
  }
}

}  // namespace backplane
