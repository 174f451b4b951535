#include "supervise/process_tree.hpp"

#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "base/files.hpp"

namespace backplane {
namespace {

std::string ProcOf(pid_t pid) { return "/proc/" + std::to_string(pid); }

}  // namespace

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (std::filesystem::directory_iterator thread(ProcOf(pid) + "/task", gone), end; !gone && thread != end;
       thread.increment(gone)) {
    std::istringstream list(ReadFile(thread->path() / "children").value_or(""));
    for (pid_t child = 0; list >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

std::vector<pid_t> DescendantsOf(pid_t root) {
  std::vector<pid_t> found = ChildrenOf(root);
  for (size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = ChildrenOf(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

uint64_t ResidentBytes(pid_t pid) {
  std::istringstream statm(ReadFile(ProcOf(pid) + "/statm").value_or(""));
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace backplane
