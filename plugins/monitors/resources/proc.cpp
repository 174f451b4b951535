#include "proc.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace backplane::resources {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

// The names below a folder that are numbers: processes or threads.
std::vector<int64_t> Ids(const fs::path& folder) {
  std::vector<int64_t> ids;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    int64_t id = 0;
    const auto [last, fault] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (fault == std::errc() && last == name.data() + name.size()) ids.push_back(id);
  }
  return ids;
}

double StatusMb(const std::string& status, const std::string& key) {
  const size_t at = status.find(key + ":");
  return at == std::string::npos ? 0 : std::strtod(status.c_str() + at + key.size() + 1, nullptr) / 1024;  // kB in the file
}

// Per thread: the process's own schedstat shows its first thread only.
double RunQueueWait(const fs::path& process) {
  double wait_ns = 0;
  for (int64_t thread : Ids(process / "task")) {
    double run = 0, wait = 0;
    std::istringstream(ReadFile(process / "task" / std::to_string(thread) / "schedstat")) >> run >> wait;
    wait_ns += wait;
  }
  return wait_ns * 1e-9;
}

double QuotaV2(const fs::path& group) {
  std::istringstream text(ReadFile(group / "cpu.max"));
  double quota, period;  // "max 100000" does not parse as a number: no limit
  return text >> quota >> period && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

double QuotaV1(const fs::path& group) {
  double quota = -1, period = 0;
  std::istringstream(ReadFile(group / "cpu.cfs_quota_us")) >> quota;
  std::istringstream(ReadFile(group / "cpu.cfs_period_us")) >> period;
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

bool HasWord(std::string list, const std::string& word) {
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream words(list);
  for (std::string w; words >> w;) {
    if (w == word) return true;
  }
  return false;
}

// Paths of this process's groups: "" for v2, "cpu" for the v1 hierarchy with that controller.
std::map<std::string, std::string> GroupPaths(const std::string& root) {
  std::map<std::string, std::string> paths;
  std::istringstream lines(ReadFile(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (two == std::string::npos) continue;
    const std::string controllers = line.substr(one + 1, two - one - 1);
    if (controllers.empty() || HasWord(controllers, "cpu")) paths[controllers.empty() ? "" : "cpu"] = line.substr(two + 1);
  }
  return paths;
}

// The smallest quota from the process's group up to the mount point. A mount shows the hierarchy from its own root on.
double SmallestQuota(const fs::path& mount, const std::string& mount_root, std::string path, double (*quota)(const fs::path&)) {
  if (mount_root != "/" && path.rfind(mount_root, 0) == 0) path = path.substr(mount_root.size());
  fs::path group = (mount / fs::path(path).relative_path()).lexically_normal();
  double least = quota(mount);
  for (; group.string().size() > mount.string().size(); group = group.parent_path()) least = std::min(least, quota(group));
  return least;
}

}  // namespace

bool ParseStat(const std::string& text, ProcStat* out) {
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  std::istringstream fields(text.substr(close + 1));
  std::string state, skipped;
  if (!(fields >> state >> out->parent)) return false;
  for (int field = 5; field <= 13; ++field) fields >> skipped;
  double user, system, children_user, children_system;  // fields 14 to 17
  if (!(fields >> user >> system >> children_user >> children_system)) return false;
  out->cpu_ticks = user + system + children_user + children_system;
  return true;
}

TreeUsage ReadTree(int64_t root_pid, const std::string& proc) {
  std::map<int64_t, ProcStat> all;
  for (int64_t pid : Ids(proc)) {
    ProcStat stat;
    if (ParseStat(ReadFile(fs::path(proc) / std::to_string(pid) / "stat"), &stat)) all[pid] = stat;
  }
  std::set<int64_t> tree{root_pid};
  for (size_t before = 0; before != tree.size();) {
    before = tree.size();
    for (const auto& [pid, stat] : all) {
      if (tree.count(stat.parent)) tree.insert(pid);
    }
  }
  TreeUsage usage;
  for (int64_t pid : tree) {
    const auto found = all.find(pid);
    if (found == all.end()) continue;
    const fs::path folder = fs::path(proc) / std::to_string(pid);
    const std::string status = ReadFile(folder / "status");
    usage.cpu_s += found->second.cpu_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    usage.rss_mb += StatusMb(status, "VmRSS");
    usage.rss_peak_mb += StatusMb(status, "VmHWM");
    usage.run_queue_wait_s += RunQueueWait(folder);
    ++usage.processes;
  }
  return usage;
}

double CgroupCpus(const std::string& root) {
  const std::map<std::string, std::string> paths = GroupPaths(root);
  double least = std::numeric_limits<double>::infinity();
  std::istringstream lines(ReadFile(root + "/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    // id parent device root mount-point options [tags] - type source super-options
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string id, parent, device, mount_root, point, type, source, super;
    std::istringstream(line.substr(0, dash)) >> id >> parent >> device >> mount_root >> point;
    std::istringstream(line.substr(dash + 3)) >> type >> source >> super;
    if (type == "cgroup2" && paths.count("")) {
      least = std::min(least, SmallestQuota(root + point, mount_root, paths.at(""), QuotaV2));
    } else if (type == "cgroup" && HasWord(super, "cpu") && paths.count("cpu")) {
      least = std::min(least, SmallestQuota(root + point, mount_root, paths.at("cpu"), QuotaV1));
    }
  }
  return least;
}

double EffectiveCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const double affinity =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::min(affinity, CgroupCpus());
}

}  // namespace backplane::resources
