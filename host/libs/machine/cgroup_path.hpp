// Where this process stands in the control groups of v1 and v2, as folders that can be read here. In a container a mount may
// show only a part of a hierarchy: its root is then taken off the path that the kernel tells.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct CgroupFolder {
  std::filesystem::path mount;  // of the hierarchy, or of the part that is shown
  std::filesystem::path own;    // the process's group: `mount` or below it
};

// In the v1 hierarchy of a controller ("cpu", "memory"), or in that of v2 (""). Absent where it is not mounted, where no mount
// shows the group, or where the hierarchy of v2 has no controllers. `proc` is the process's folder.
std::optional<CgroupFolder> FindCgroup(const std::string& controller, const std::filesystem::path& proc = "/proc/self");

// Where a limit on the controller's resource may stand: the process's groups in v1 and v2 and all above them that can be seen.
std::vector<std::filesystem::path> LimitingCgroups(const std::string& controller,
                                                   const std::filesystem::path& proc = "/proc/self");

}  // namespace backplane
