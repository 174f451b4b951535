#include "shim/cgroup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.hpp"
#include "base/process.hpp"
#include "machine/cgroup_path.hpp"
#include "machine/kernel_file.hpp"
#include "shim/shim_protocol.hpp"

namespace backplane {
namespace {

constexpr const char* kHostLeaf = "backplane-host";
constexpr std::string_view kTrialPrefix = "backplane-trial-";
constexpr int kRemoveTries = 100;
constexpr auto kRemovePause = std::chrono::milliseconds(10);

// Control files take one write; O_CREAT so that a folder tree can stand for the kernel's in tests.
int OpenControl(const std::filesystem::path& file) { return open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644); }

bool Write(const std::filesystem::path& file, const std::string& text) {
  const int fd = OpenControl(file);
  if (fd < 0) {
    return false;
  }
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

bool HasWord(const std::filesystem::path& file, const std::string& wanted) {
  std::istringstream words(ReadFile(file).value_or(""));
  for (std::string word; words >> word;) {
    if (word == wanted) {
      return true;
    }
  }
  return false;
}

long CountOf(const std::filesystem::path& file, const std::string& wanted) {
  return static_cast<long>(NumberAfter(ReadFile(file).value_or(""), wanted).value_or(0));
}

}  // namespace

std::optional<std::filesystem::path> OwnGroup() {
  const auto found = FindCgroup("");
  return found ? std::optional(found->own) : std::nullopt;
}

std::optional<std::filesystem::path> DelegatedGroup(const std::filesystem::path& own_group) {
  // An earlier engine of this process, or a supervisor above us, has made the leaf already.
  std::filesystem::path group = own_group.filename() == kHostLeaf ? own_group.parent_path() : own_group;
  // Only the root of the hierarchy has no cgroup.events, and the root cannot be delegated.
  if (!std::filesystem::exists(group / "cgroup.events") || !HasWord(group / "cgroup.controllers", "memory") ||
      access((group / "cgroup.subtree_control").c_str(), W_OK) != 0 || access(group.c_str(), W_OK) != 0) {
    return std::nullopt;
  }
  if (HasWord(group / "cgroup.subtree_control", "memory")) {
    return group;
  }
  const std::filesystem::path leaf = group / kHostLeaf;
  std::error_code ignored;
  std::filesystem::create_directory(leaf, ignored);
  if (!Write(leaf / "cgroup.procs", "0") || !Write(group / "cgroup.subtree_control", "+memory")) {
    Write(group / "cgroup.procs", "0");
    rmdir(leaf.c_str());
    return std::nullopt;
  }
  if (HasWord(group / "cgroup.controllers", "cpuset")) {
    Write(group / "cgroup.subtree_control", "+cpuset");  // a bonus: the cores are set by affinity anyway
  }
  return group;
}

std::filesystem::path GroupOfShim(const std::filesystem::path& delegated, pid_t shim) {
  return delegated / (std::string(kTrialPrefix) + std::to_string(shim));
}

void EndGroupsOfDeadShims(const std::filesystem::path& delegated) {
  std::vector<std::filesystem::path> dead;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(delegated, error)) {
    const std::string name = entry.path().filename().string();
    const char* const end = name.data() + name.size();
    pid_t shim = 0;
    if (name.starts_with(kTrialPrefix) && std::from_chars(name.data() + kTrialPrefix.size(), end, shim).ptr == end &&
        !ProcessStart(shim)) {
      dead.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& group : dead) {
    EndGroup(group);
  }
}

void EndGroup(const std::filesystem::path& group) {
  if (!std::filesystem::is_directory(group)) {
    return;
  }
  Write(group / "cgroup.kill", "1");
  for (int i = 0; i < kRemoveTries && rmdir(group.c_str()) != 0 && errno == EBUSY; ++i) {
    std::this_thread::sleep_for(kRemovePause);
  }
}

std::unique_ptr<TrialGroup> TrialGroup::Make(const std::filesystem::path& group, std::optional<uint64_t> memory_bytes,
                                             const std::vector<int>& cores) {
  std::error_code error;
  std::filesystem::create_directory(group, error);
  const bool limited =
      !memory_bytes || (Write(group / "memory.max", std::to_string(*memory_bytes)) && Write(group / "memory.oom.group", "1"));
  const int procs_fd = limited ? OpenControl(group / "cgroup.procs") : -1;
  if (procs_fd < 0) {
    rmdir(group.c_str());
    return nullptr;
  }
  if (memory_bytes) {
    Write(group / "memory.swap.max", "0");  // absent where the kernel does not count swap
  }
  if (!cores.empty() && HasWord(group / "cgroup.controllers", "cpuset")) {
    Write(group / "cpuset.cpus", JoinedCores(cores, ","));
  }
  return std::unique_ptr<TrialGroup>(new TrialGroup(group, procs_fd, OpenControl(group / "cgroup.kill")));
}

TrialGroup::~TrialGroup() {
  close(procs_fd_);
  if (kill_fd_ >= 0) {
    close(kill_fd_);
  }
  EndGroup(group_);
}

uint64_t TrialGroup::PeakBytes() const {
  uint64_t bytes = 0;
  std::istringstream(ReadFile(group_ / "memory.peak").value_or("")) >> bytes;
  return bytes;
}

bool TrialGroup::OomKilled() const { return CountOf(group_ / "memory.events", "oom_kill") > 0; }

long OomKillCount() {
  if (const auto group = OwnGroup(); group && std::filesystem::exists(*group / "memory.events")) {
    return CountOf(*group / "memory.events", "oom_kill");
  }
  const auto v1 = FindCgroup("memory");
  return v1 ? CountOf(v1->own / "memory.oom_control", "oom_kill") : 0;
}

}  // namespace backplane
