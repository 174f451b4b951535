// Finds the folders of this process's control groups, v1 and v2. In a container a mount may show only part of a hierarchy; its
// root is then removed from the kernel's path.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct CgroupFolder {
  std::filesystem::path mount;  // of the hierarchy, or of its visible part
  std::filesystem::path own;    // the process's group: `mount` or a folder below it
};

// Searches the v1 hierarchy of a controller ("cpu", "memory") or the v2 hierarchy (""). Absent if it is not mounted, if no
// mount shows the group, or if the v2 hierarchy has no controllers. `proc` is the process's folder.
std::optional<CgroupFolder> FindCgroup(const std::string& controller, const std::filesystem::path& proc = "/proc/self");

// Folders that can limit the controller's resource: the process's groups in v1 and v2 and their visible ancestors.
std::vector<std::filesystem::path> LimitingCgroups(const std::string& controller,
                                                   const std::filesystem::path& proc = "/proc/self");

}  // namespace backplane
