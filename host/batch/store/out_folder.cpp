#include "store/out_folder.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "record/fields.hpp"
#include "record/imported_runs.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kRetry{50};
constexpr std::chrono::milliseconds kBriefly{300};       // another process may only be checking whether it is free
constexpr std::chrono::milliseconds kOrphansEnd{40000};  // a trial gets 30 s to save its state, then it is killed

// "a/b/" -> "a/b": with the slash, ".1" would name a folder inside.
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

// -1: the folder is missing. Throws std::runtime_error with any other cause.
int OpenFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT && errno != ENOTDIR) {
    throw std::runtime_error("cannot open " + folder.string() + ": " + std::strerror(errno));
  }
  return fd;
}

// Returns the process in the lock file; absent if the file is empty, as between two runs, or malformed.
std::optional<ProcessId> ReadHolder(const std::filesystem::path& out) {
  return RecordOrNothing<ProcessId>(
      nlohmann::json::parse(ReadFile(ResultsFolder{out}.lock()).value_or(""), nullptr, /*allow_exceptions=*/false));
}

// Never empties the file in between, because an observer would assume that the batch has ended.
bool WriteLockFile(int fd, const std::string& text) {
  return pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         ftruncate(fd, static_cast<off_t>(text.size())) == 0;
}

std::string ThisHolder() { return ToJson(ThisProcess()).dump() + "\n"; }

enum class Lock { kGot = 1, kTaken };

// If the filesystem cannot lock this kind of file (NFS: a folder), the lock counts as free.
Lock TryLock(int fd) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Lock::kTaken;
    }
    if (errno != EINTR) {
      break;
    }
  }
  return Lock::kGot;
}

bool LockWithin(int fd, std::chrono::milliseconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (TryLock(fd) != Lock::kGot) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    Interrupted::ThrowIf();
    std::this_thread::sleep_for(kRetry);
  }
  return true;
}

// True if the process has `file` open; absent: another user's process, which is not visible.
std::optional<bool> HasOpen(pid_t pid, const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::directory_iterator opened("/proc/" + std::to_string(pid) + "/fd", error);
  if (error) {
    return std::nullopt;
  }
  return std::any_of(begin(opened), end(opened), [&](const auto& entry) {
    std::error_code closed;
    return std::filesystem::equivalent(entry.path(), file, closed);
  });
}

// The process that locked the descriptor's file, from the kernel's list: "7: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF".
// Absent: it is not listed, or the process has ended and others inherited the lock.
std::optional<ProcessId> FindLocker(int fd) {
  struct stat held {};
  if (fstat(fd, &held) != 0) {
    return std::nullopt;
  }
  std::istringstream locks(ReadFile("/proc/locks").value_or(""));
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, mode, place;
    ProcessId process = ThisProcess();
    if (!(words >> number >> kind >> advisory >> mode >> process.pid >> place) || kind != "FLOCK" ||
        !place.ends_with(":" + std::to_string(held.st_ino))) {
      continue;
    }
    // A different file system may have the same inode, and on btrfs the listed device differs from stat's.
    if (!HasOpen(process.pid, "/proc/self/fd/" + std::to_string(fd)).value_or(true)) {
      continue;
    }
    if (const auto start = ProcessStart(process.pid)) {
      process.pid_start = *start;
      return process;
    }
  }
  return std::nullopt;
}

[[noreturn]] void RefuseInUse(const std::filesystem::path& out, const std::optional<ProcessId>& holder) {
  std::string by;
  if (holder) {
    by = " (process " + std::to_string(holder->pid) + " on " + holder->hostname + ")";
  }
  throw std::runtime_error(out.string() + " is in use by another " + (holder ? "run" : "command") + by +
                           "; wait for it, stop it with `backplane stop`, or choose a different folder with --out");
}

class Locking {
 public:
  Locking(std::filesystem::path out, const OutLock::Say& say, LockFor what_for)
      : out_(std::move(out)), say_(say), what_for_(what_for) {}

  struct Locked {
    int file, folder;  // owned by the caller
  };
  // Absent if the folder was moved meanwhile, or could not be created for that reason.
  std::optional<Locked> Try() {
    std::filesystem::create_directories(out_);
    Descriptor folder{OpenFolder(out_)};
    if (folder.fd < 0) {
      return std::nullopt;
    }
    const std::filesystem::path file = ResultsFolder{out_}.lock();
    Descriptor lock{open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
    if (const int error = errno; lock.fd < 0) {
      if (error == ENOENT && !IsAt(folder.fd, out_)) {
        return std::nullopt;
      }
      errno = error;
      throw std::runtime_error("cannot create " + file.string() + ": " + std::strerror(errno));
    }
    if (!LockWithin(lock.fd, kBriefly)) {
      const std::optional<ProcessId> holder = ReadHolder(out_);
      const bool locked = holder && !IsAlive(*holder) && WaitForOrphans(lock.fd, lock.fd);
      if (!locked && IsAt(lock.fd, file)) {
        RefuseInUse(out_, holder);
      }
    }
    // Another run's `--fresh` may have renamed the folder; then the lock belongs to the old results.
    if (!IsAt(lock.fd, file)) {
      return std::nullopt;
    }
    TakeWhereTheFileWasRemoved(folder.fd, lock.fd);
    for (const auto& trial : TrialFolders()) {
      TakeWhereTheFileWasRemoved(Descriptor{OpenFolder(trial)}.fd, lock.fd);
    }
    return Locked{lock.Release(), folder.Release()};
  }

 private:
  std::vector<std::filesystem::path> TrialFolders() const {
    std::vector<std::filesystem::path> folders;
    const std::filesystem::path trials = ResultsFolder{out_}.trials();
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(trials, error)) {
      folders.push_back(entry.path());
    }
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
      throw std::runtime_error("cannot open " + trials.string() + ": " + error.message());
    }
    return folders;
  }

  // We hold the file, but a running batch holds the folders too. If they are locked, the file was removed during a batch.
  void TakeWhereTheFileWasRemoved(int fd, int lock) {
    if (fd < 0 || LockWithin(fd, std::chrono::milliseconds(0))) {
      return;
    }
    const std::optional<ProcessId> locker = FindLocker(fd);
    if (locker || !WaitForOrphans(fd, lock)) {
      RefuseInUse(out_, locker);
    }
  }

  // Waits for trials whose supervisor is dead. True if it got the lock. Meanwhile the lock file names this process, so that
  // `stop` finds it.
  bool WaitForOrphans(int fd, int lock) {
    const std::string before = ReadFile(ResultsFolder{out_}.lock()).value_or("");
    if (what_for_ == LockFor::kBatch) WriteLockFile(lock, ThisHolder());
    try {
      if (WaitFor(fd)) return true;
    } catch (const Interrupted&) {
      RestoreLockFile(lock, before);
      throw;
    }
    RestoreLockFile(lock, before);
    return false;
  }

  // Unless another run holds the folder by now and has written its own name.
  void RestoreLockFile(int lock, const std::string& before) {
    if (ReadFile(ResultsFolder{out_}.lock()).value_or("") == ThisHolder()) WriteLockFile(lock, before);
  }

  bool WaitFor(int fd) {
    if (say_ && !said_) {
      said_ = true;
      say_("waiting for trials in " + out_.string() + " to end, because the run that started them is gone");
    }
    return LockWithin(fd, kOrphansEnd);
  }

  const std::filesystem::path out_;
  const OutLock::Say& say_;
  const LockFor what_for_;
  bool said_ = false;
};

constexpr const char* kResultFiles[] = {kRunName, kPlanName, kEventsName};

// --fresh renames the folder, so a wrong --out must not move other data. A folder with only `lock` stems from a run that ended
// early.
void RequireResults(const std::filesystem::path& out) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    names.push_back(entry.path().filename().string());
  }
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  std::erase(names, "lock");
  if (names.empty() || std::any_of(std::begin(kResultFiles), std::end(kResultFiles), has)) {
    return;
  }
  std::sort(names.begin(), names.end());
  constexpr size_t kShown = 3;
  const size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  throw std::runtime_error(fmt::format(
      "{} is not a results folder: it holds {}{}, and none of {}\nhint: choose a different folder with --out", out.string(),
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "", fmt::join(kResultFiles, ", ")));
}

}  // namespace

OutLock::OutLock(const std::filesystem::path& out, const Say& say, LockFor what_for) {
  if (what_for == LockFor::kBatch) RejectImported(out);
  Locking locking(out, say, what_for);
  std::optional<Locking::Locked> locked;
  while (!(locked = locking.Try())) {
  }
  Descriptor file{locked->file}, folder{locked->folder};
  if (!WriteLockFile(file.fd, what_for == LockFor::kBatch ? ThisHolder() : "")) {
    throw std::runtime_error("cannot write " + ResultsFolder{out}.lock().string() + ": " + std::strerror(errno));
  }
  fd_ = file.Release();
  folder_fd_ = folder.Release();
}

OutLock::~OutLock() {
  // Before unlocking: this process may live on without working here.
  [[maybe_unused]] const int emptied = ftruncate(fd_, 0);
  close(fd_);
  close(folder_fd_);
}

std::optional<ProcessId> FindSupervisor(const std::filesystem::path& out) {
  const std::optional<ProcessId> holder = ReadHolder(out);
  if (!holder) {
    return std::nullopt;
  }
  // A copied folder contains a copy of the lock file, so its process may work elsewhere. Processes on other machines or of
  // other users cannot be looked up, and the machine may be gone (a deleted container). In these cases, test the lock itself.
  const bool here = holder->hostname == ThisProcess().hostname;
  if (here && !IsAlive(*holder)) {
    return std::nullopt;
  }
  const std::optional<bool> has_open = here ? HasOpen(holder->pid, ResultsFolder{out}.lock()) : std::nullopt;
  return has_open.value_or(false) || (!has_open && !IsFree(out)) ? holder : std::nullopt;
}

void LockTrial(const HeldFolder& trial) {
  trial.Require();
  if (TryLock(trial.fd()) == Lock::kTaken) {
    const std::optional<ProcessId> locker = FindLocker(trial.fd());
    throw std::runtime_error(trial.name().string() + " is in use by a different process" +
                             (locker ? " (" + std::to_string(locker->pid) + ")" : ""));
  }
}

TrialFolder TrialFolderOf(const std::filesystem::path& out, const std::string& trial_id) {
  return ResultsFolder{std::filesystem::absolute(out)}.trial(trial_id);
}

bool HasOldResults(const std::filesystem::path& out) {
  if (!std::filesystem::exists(out)) return false;
  if (!std::filesystem::is_directory(out)) {
    throw std::runtime_error(out.string() + " is not a folder\nhint: choose a different one with --out");
  }
  if (std::filesystem::is_empty(out)) return false;
  RequireResults(out);
  return true;
}

std::optional<std::filesystem::path> MoveAside(const std::filesystem::path& out) {
  const std::filesystem::path from = WithoutTrailingSlash(out);
  if (!HasOldResults(from)) return std::nullopt;
  // Never moves a running experiment. Held until the rename is done; a process that waits for this lock then sees that it
  // belongs to the old results, and locks the new folder.
  const OutLock lock(from);
  for (unsigned number = 1;; ++number) {
    std::filesystem::path to = from.string() + "." + std::to_string(number);
    if (!std::filesystem::exists(to)) {
      std::filesystem::rename(from, to);
      return to;
    }
  }
}

}  // namespace backplane
