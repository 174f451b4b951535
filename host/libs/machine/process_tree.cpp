#include "machine/process_tree.hpp"

#include <unistd.h>

#include <charconv>
#include <map>
#include <sstream>
#include <string>

#include "machine/kernel_file.hpp"
#include "machine/process_usage.hpp"

namespace backplane {
namespace {

std::vector<pid_t> ListedChildren(pid_t pid, const std::filesystem::path& proc) {
  std::vector<pid_t> children;
  const std::filesystem::path threads = proc / std::to_string(pid) / "task";
  for (const int thread : NumberedEntries(threads)) {
    std::istringstream list(ReadKernelFile(threads / std::to_string(thread) / "children").value_or(""));
    for (pid_t child = 0; list >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

using Children = std::multimap<pid_t, pid_t>;  // by parent

Children AskEveryProcess(const std::filesystem::path& proc) {
  Children children;
  for (const pid_t pid : NumberedEntries(proc)) {
    ProcStat stat;
    if (ParseStat(ReadKernelFile(proc / std::to_string(pid) / "stat").value_or(""), &stat)) {
      children.emplace(stat.parent, pid);
    }
  }
  return children;
}

}  // namespace

bool ListsChildren(pid_t pid, const std::filesystem::path& proc) {
  const std::string name = std::to_string(pid);
  return access((proc / name / "task" / name / "children").c_str(), R_OK) == 0;
}

std::vector<pid_t> ChildrenOf(pid_t pid, const std::filesystem::path& proc) {
  if (ListsChildren(pid, proc)) return ListedChildren(pid, proc);
  std::vector<pid_t> children;
  const Children all = AskEveryProcess(proc);
  for (auto [child, end] = all.equal_range(pid); child != end; ++child) children.push_back(child->second);
  return children;
}

std::vector<pid_t> DescendantsOf(pid_t root, const std::filesystem::path& proc) {
  const bool listed = ListsChildren(root, proc);
  const Children all = listed ? Children() : AskEveryProcess(proc);
  std::vector<pid_t> found{root};
  for (size_t i = 0; i < found.size(); ++i) {
    if (listed) {
      const std::vector<pid_t> below = ListedChildren(found[i], proc);
      found.insert(found.end(), below.begin(), below.end());
    } else {
      for (auto [child, end] = all.equal_range(found[i]); child != end; ++child) found.push_back(child->second);
    }
  }
  found.erase(found.begin());
  return found;
}

uint64_t ResidentBytes(pid_t pid) {
  std::istringstream statm(ReadKernelFile("/proc/" + std::to_string(pid) + "/statm").value_or(""));
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::optional<ProcessState> ParseProcessState(std::string_view text) {
  // The name may contain spaces and brackets, so it ends at the last one.
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || close + 2 >= text.size())
    return std::nullopt;
  ProcessState state;
  if (std::from_chars(text.data(), text.data() + open, state.pid).ec != std::errc()) return std::nullopt;
  state.name = text.substr(open + 1, close - open - 1);
  state.letter = text[close + 2];
  return state;
}

std::optional<ProcessState> StateOf(pid_t pid, const std::filesystem::path& proc) {
  return ParseProcessState(ReadKernelFile(proc / std::to_string(pid) / "stat").value_or(""));
}

}  // namespace backplane
