#include "machine/cgroup_path.hpp"

#include <sstream>

#include "machine/kernel_file.hpp"

namespace backplane {
namespace {

bool HasWord(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// The path of the process's group from the root of the hierarchy.
std::optional<std::string> PathInHierarchy(const std::string& controller, const std::filesystem::path& proc) {
  std::istringstream groups(ReadKernelFile(proc / "cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : HasWord(controllers, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// `path` relative to `root`; absent if it is outside.
std::optional<std::string> Below(const std::string& root, const std::string& path) {
  if (root == "/") return path.starts_with("/..") ? std::nullopt : std::optional(path);
  const bool inside = path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
  return inside ? std::optional(path.substr(root.size())) : std::nullopt;
}

// In a hybrid layout v1 has all controllers, and v2 only groups processes.
bool HasNoControllers(const std::filesystem::path& v2_mount) {
  const std::optional<std::string> controllers = ReadKernelFile(v2_mount / "cgroup.controllers");
  return controllers && controllers->find_first_not_of(" \n") == std::string::npos;
}

}  // namespace

std::optional<CgroupFolder> FindCgroup(const std::string& controller, const std::filesystem::path& proc) {
  const std::optional<std::string> path = PathInHierarchy(controller, proc);
  if (!path) return std::nullopt;
  std::istringstream mounts(ReadKernelFile(proc / "mountinfo").value_or(""));
  for (std::string line; std::getline(mounts, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line), right(line.substr(dash + 3));
    std::string skip, root, point, type, source, options;
    left >> skip >> skip >> skip >> root >> point;
    right >> type >> source >> options;
    if (controller.empty() ? type != "cgroup2" : type != "cgroup" || !HasWord(options, controller)) continue;
    if (controller.empty() && HasNoControllers(point)) continue;
    const std::optional<std::string> below = Below(root, *path);
    if (below) return CgroupFolder{point, *below == "/" || below->empty() ? point : point + *below};
  }
  return std::nullopt;
}

std::vector<std::filesystem::path> LimitingCgroups(const std::string& controller, const std::filesystem::path& proc) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& hierarchy : {std::string(), controller}) {
    const std::optional<CgroupFolder> found = FindCgroup(hierarchy, proc);
    if (!found) continue;
    for (std::filesystem::path folder = found->own; folder != found->mount; folder = folder.parent_path())
      folders.push_back(folder);
    folders.push_back(found->mount);
  }
  return folders;
}

}  // namespace backplane
