#include "machine/process_usage.hpp"

#include <time.h>
#include <unistd.h>

#include <sstream>

#include "machine/kernel_file.hpp"
#include "machine/process_tree.hpp"

namespace backplane {
namespace {

// A scan of all processes may use 1/500 of the time; in between, the known processes are read.
constexpr int kScanRest = 500;

double OwnCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void AddRunQueueWait(const std::filesystem::path& process, TreeUsage* usage) {
  for (const int thread : NumberedEntries(process / "task")) {
    if (const std::optional<int64_t> wait_ns = RunQueueWaitNs(thread, process))
      usage->run_queue_wait_s = usage->run_queue_wait_s.value_or(0) + static_cast<double>(*wait_ns) * 1e-9;
  }
}

void AddProcess(pid_t pid, const std::filesystem::path& proc, TreeUsage* usage) {
  const std::filesystem::path folder = proc / std::to_string(pid);
  ProcStat stat;
  if (!ParseStat(ReadKernelFile(folder / "stat").value_or(""), &stat)) return;
  // A tick is 10 ms: too coarse for the process that matters most.
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage->cpu_s += stat.children_ticks / ticks_per_s + (pid == getpid() ? OwnCpuSeconds() : stat.own_ticks / ticks_per_s);
  const std::string status = ReadKernelFile(folder / "status").value_or("");
  usage->rss_mb += static_cast<double>(NumberAfter(status, "VmRSS:").value_or(0)) / 1024;
  usage->rss_peak_mb += static_cast<double>(NumberAfter(status, "VmHWM:").value_or(0)) / 1024;
  usage->threads += static_cast<int>(NumberAfter(status, "Threads:").value_or(0));
  ++usage->processes;
  AddRunQueueWait(folder, usage);
}

}  // namespace

bool ParseStat(const std::string& text, ProcStat* out) {
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  std::istringstream fields(text.substr(close + 1));
  std::string state, skipped;
  if (!(fields >> state >> out->parent)) return false;
  for (int field = 5; field <= 13; ++field) fields >> skipped;
  double user = 0, system = 0, children_user = 0, children_system = 0;  // fields 14 to 17
  if (!(fields >> user >> system >> children_user >> children_system)) return false;
  out->own_ticks = user + system;
  out->children_ticks = children_user + children_system;
  return true;
}

TreeReader::TreeReader(pid_t root, std::filesystem::path proc)
    : root_(root), proc_(std::move(proc)), lists_children_(ListsChildren(root_, proc_)) {}

TreeUsage TreeReader::Read() {
  TreeUsage usage;
  AddProcess(root_, proc_, &usage);
  for (const pid_t pid : Below()) AddProcess(pid, proc_, &usage);
  return usage;
}

const std::vector<pid_t>& TreeReader::Below() {
  const auto before = std::chrono::steady_clock::now();
  if (lists_children_ || before >= look_again_) {
    below_ = DescendantsOf(root_, proc_);
    const auto after = std::chrono::steady_clock::now();
    look_again_ = after + kScanRest * (after - before);
  }
  return below_;
}

// A process's own schedstat shows its first thread only.
std::optional<int64_t> RunQueueWaitNs(pid_t thread, const std::filesystem::path& process) {
  std::istringstream text(ReadKernelFile(process / "task" / std::to_string(thread) / "schedstat").value_or(""));
  int64_t run_ns = 0, wait_ns = 0;
  return text >> run_ns >> wait_ns ? std::optional(wait_ns) : std::nullopt;
}

}  // namespace backplane
