#include "batch/leftovers.hpp"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "machine/kernel_file.hpp"
#include "machine/process_usage.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kLeftoversEnd{2000};
constexpr std::chrono::milliseconds kLeftoversLook{10};

// "BACKPLANE_TRIAL=<folder> "
std::string FolderPrefix(const std::filesystem::path& out) {
  struct stat folder {};
  stat(out.c_str(), &folder);
  return "BACKPLANE_TRIAL=" + std::to_string(folder.st_dev) + "-" + std::to_string(folder.st_ino) + " ";
}

std::string ProcFile(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

std::set<pid_t> SelfAndAbove() {
  std::set<pid_t> line;
  ProcStat stat;
  for (pid_t pid = getpid(); pid > 0 && line.insert(pid).second; pid = stat.parent) {
    if (!ParseStat(ReadKernelFile(ProcFile(pid, "stat")).value_or(""), &stat)) break;
  }
  return line;
}

// Matches only entries that start with the whole prefix.
bool CarriesMark(pid_t pid, const std::string& prefix) {
  const std::string environment = '\0' + ReadKernelFile(ProcFile(pid, "environ")).value_or("");
  return environment.find('\0' + prefix) != std::string::npos;
}

std::vector<pid_t> FindLeftovers(const std::string& prefix) {
  const std::set<pid_t> spared = SelfAndAbove();
  std::vector<pid_t> found;
  for (const pid_t pid : NumberedEntries("/proc")) {
    if (!spared.contains(pid) && CarriesMark(pid, prefix) && ProcessStart(pid)) found.push_back(pid);
  }
  return found;
}

// The descriptor holds the process, so a reused pid is not killed.
void KillLeftover(pid_t pid, const std::string& prefix) {
  const int held = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (held < 0) return;
  if (CarriesMark(pid, prefix)) syscall(SYS_pidfd_send_signal, held, SIGKILL, nullptr, 0);
  close(held);
}

// "4711 (sleep)"
std::string LeftoverName(pid_t pid) {
  std::string name = ReadKernelFile(ProcFile(pid, "comm")).value_or("");
  name.erase(std::min(name.find('\n'), name.size()));
  return name.empty() ? std::to_string(pid) : fmt::format("{} ({})", pid, name);
}

}  // namespace

std::string TrialVariable(const std::filesystem::path& out, const std::string& trial_id) {
  return FolderPrefix(out) + trial_id;
}

std::string EndLeftovers(const std::filesystem::path& out) {
  const std::string prefix = FolderPrefix(out);
  std::vector<pid_t> left = FindLeftovers(prefix);
  if (left.empty()) return "";
  std::vector<std::string> names;
  for (const pid_t pid : left) names.push_back(LeftoverName(pid));
  const auto until = std::chrono::steady_clock::now() + kLeftoversEnd;
  for (; !left.empty() && std::chrono::steady_clock::now() < until; left = FindLeftovers(prefix)) {
    Interrupted::ThrowIf();  // before any attempt is recorded as ended
    for (const pid_t pid : left) KillLeftover(pid, prefix);
    std::this_thread::sleep_for(kLeftoversLook);
  }
  if (left.empty()) return fmt::format("killed the processes that an earlier run left: {}", fmt::join(names, ", "));
  names.clear();
  for (const pid_t pid : left) names.push_back(LeftoverName(pid));
  return fmt::format("warning: cannot kill the processes that an earlier run left: {}", fmt::join(names, ", "));
}

}  // namespace backplane
